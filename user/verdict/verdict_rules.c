// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules table, the helpers shared by the rules, and the code choosing the printed causes. A
 * cause is only certain if nothing was lost.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/fault_times.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"
#include "util/array.h"

#define ENDED_MOST     0.95 /* of the faults' time, … */
#define ENDED_SHARE    0.5  /* … early in the run */
#define ENDED_LEAST_NS 100000000ULL

#define SETTING(setting) (1U << PREDICTED_##setting)
#define MORE_READAHEAD	 (SETTING(READAHEAD_512K) | SETTING(READAHEAD_2M))
#define LESS_READAHEAD	 (SETTING(RANDOM) | SETTING(NO_READAHEAD) | SETTING(READAHEAD_32K))

static const struct verdict_rule verdict_rules[] = {
	{ .name = "failed-faults", .applies = verdict_nothing_failed, .always = true },
	{ .name = "memory-throttle", .applies = verdict_memory_throttled, .always = true },
	{ .name = "mmap-lock", .applies = verdict_lock_mmap, .always = true },
	{ .name = "cpu-limit", .applies = verdict_wait_limit, .always = true },
	{ .name = "slow-tail", .applies = verdict_nothing_slow_tail, .always = true },
	{ .name = "stalled-thread", .applies = verdict_nothing_stalled, .always = true },
	{ .name = "populating-calls", .applies = verdict_nothing_populating, .always = true },
	{ .name = "no-read-ahead",
	  .applies = verdict_read_no_readahead,
	  .settings = SETTING(NORMAL) },
	{ .name = "read-around", .applies = verdict_read_around, .settings = SETTING(RANDOM) },
	{ .name = "read-amplification",
	  .applies = verdict_read_amplified,
	  .settings = LESS_READAHEAD },
	{ .name = "cold-file",
	  .applies = verdict_read_cold,
	  .settings = MORE_READAHEAD,
	  .unless = { verdict_read_no_readahead, verdict_read_around },
	  .unless_certain = verdict_read_amplified },
	{ .name = "decompression", .applies = verdict_read_cpu },
	{ .name = "work-after-read", .applies = verdict_read_uncompressed },
	{ .name = "device-queue", .applies = verdict_read_queue },
	{ .name = "file-holes", .applies = verdict_write_holes },
	{ .name = "page-mkwrite", .applies = verdict_write_page_mkwrite },
	{ .name = "cached-pages", .applies = verdict_write_cached },
	{ .name = "private-copy", .applies = verdict_copy_private },
	{ .name = "copy-after-fork", .applies = verdict_copy_after_fork },
	{ .name = "writable-after-fork", .applies = verdict_copy_reused },
	{ .name = "copy-zero-page", .applies = verdict_copy_zero },
	{ .name = "copy-ksm", .applies = verdict_copy_ksm },
	{ .name = "copy", .applies = verdict_copy_unknown },
	{ .name = "numa-hints", .applies = verdict_met_numa },
	{ .name = "soft-dirty", .applies = verdict_met_soft_dirty },
	{ .name = "write-protected", .applies = verdict_met_uffd },
	{ .name = "present-pages", .applies = verdict_met_present },
	{ .name = "swap", .applies = verdict_memory_swap },
	{ .name = "refaults", .applies = verdict_memory_refault },
	{ .name = "dropped-pages", .applies = verdict_memory_dropped },
	{ .name = "touched-again", .applies = verdict_touch_again },
	{ .name = "first-touch",
	  .applies = verdict_touch_first,
	  .unless = { verdict_touch_again, verdict_touch_huge_pages } },
	{ .name = "huge-pages",
	  .applies = verdict_touch_huge_pages,
	  .unless = { verdict_touch_again } },
	{ .name = "huge-pages", .applies = verdict_touch_hugetlb },
	{ .name = "dax-fallback", .applies = verdict_touch_dax },
	{ .name = "shared-memory",
	  .applies = verdict_touch_shared_memory,
	  .unless = { verdict_memory_shared_swap } },
	{ .name = "swap", .applies = verdict_memory_shared_swap },
	{ .name = "cpu-wait", .applies = verdict_wait_runqueue },
	{ .name = "userfaultfd", .applies = verdict_userfault_handler },
	{ .name = "writeback-throttle", .applies = verdict_write_writeback },
	{ .name = "remote-server", .applies = verdict_wait_server },
	{ .name = "contention", .applies = verdict_wait_contention },
	{ .name = "page-lock", .applies = verdict_wait_page_lock },
	{ .name = "reclaim", .applies = verdict_memory_reclaim },
	{ .name = "foreign-read", .applies = verdict_wait_foreign },
	{ .name = "remote-server",
	  .applies = verdict_perf_server,
	  .unless = { verdict_wait_server } },
	{ .name = "no-read-ahead",
	  .applies = verdict_perf_no_readahead,
	  .settings = SETTING(NORMAL) },
	{ .name = "cold-file",
	  .applies = verdict_perf_cold,
	  .settings = MORE_READAHEAD | SETTING(RANDOM),
	  .unless = { verdict_perf_no_readahead } },
	{ .name = "cached-pages",
	  .applies = verdict_perf_cached,
	  .unless = { verdict_touch_shared_memory } },
	{ .name = "swap", .applies = verdict_perf_swap },
	{ .name = "faulted-again", .applies = verdict_perf_again },
	{ .name = "asleep", .applies = verdict_perf_asleep },
	{ .name = "moved-memory", .applies = verdict_perf_moved },
	{ .name = "unseen-faults", .applies = verdict_perf_unseen, .always = true },
};

void verdict_add(struct verdict_cause *cause, const char *format, ...)
{
	const size_t length = strlen(cause->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cause->text + length, sizeof(cause->text) - length, format, arguments);
	va_end(arguments);
}

void verdict_state(struct verdict_cause *cause, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cause->text, sizeof(cause->text), format, arguments);
	va_end(arguments);
}

void verdict_advise(struct verdict_cause *cause, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cause->remedy, sizeof(cause->remedy), format, arguments);
	va_end(arguments);
}

void verdict_add_filesystem(struct verdict_cause *cause, const char *before, const char *subject,
			    const struct group *file)
{
	char text[FILESYSTEM_TEXT];

	if (file && file->filesystem)
		verdict_add(cause, "%s%.160s is on %.100s", before, subject ?: file->name,
			    filesystem_text(text, file->filesystem));
}

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (double)part_ns / whole_ns : 0;
}

double verdict_share_of(const struct report *run, uint64_t ns)
{
	return share_of(ns, run->faults.all.whole.total_ns);
}

uint64_t verdict_claimed_ns(const struct report *run, struct verdict_claim claim)
{
	const struct fault_figures *figures;
	enum fault_class class;
	uint64_t sum_ns = 0;
	enum part part;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		figures = &run->faults.classes[class];
		if (!(claim.classes & VERDICT_CLASS(class)))
			continue;
		for (part = 0; part < NR_PARTS && run->faults.parts_known; part++)
			if (claim.parts & VERDICT_PART(part))
				sum_ns += figures->parts[part].total_ns;
		if (!run->faults.parts_known && claim.parts)
			sum_ns += figures->whole.total_ns;
	}
	return sum_ns;
}

bool verdict_is_worth(const struct report *run, double share)
{
	const double had_cpu = 1 - verdict_part_share(run, PART_RUNQUEUE);

	return share >= VERDICT_LEAST_SHARE && share >= VERDICT_CAUSE_SHARE * had_cpu;
}

bool verdict_claim_time(struct verdict_cause *cause, const struct report *run, uint32_t classes,
			uint32_t parts)
{
	cause->claim = (struct verdict_claim){ classes, parts };
	cause->weight = verdict_share_of(run, verdict_claimed_ns(run, cause->claim));
	return parts == VERDICT_PART(PART_RUNQUEUE) ? cause->weight >= VERDICT_CAUSE_SHARE :
						      verdict_is_worth(run, cause->weight);
}

void verdict_claim_outside(struct verdict_cause *cause, const struct verdict *verdict, uint64_t ns)
{
	cause->outside = true;
	cause->weight = ns < verdict->wall_ns ? share_of(ns, verdict->wall_ns) : 1;
}

double verdict_class_share(const struct report *run, enum fault_class class)
{
	return share_of(run->faults.classes[class].whole.total_ns, run->faults.all.whole.total_ns);
}

double verdict_part_share(const struct report *run, enum part part)
{
	if (!run->faults.parts_known)
		return 0;
	return share_of(run->faults.all.parts[part].total_ns, run->faults.all.whole.total_ns);
}

uint64_t verdict_off_cpu_ns(const struct fault_figures *faults)
{
	return faults->whole.total_ns - fault_figures_cpu_ns(faults) - faults->reclaim_cpu_ns;
}

double verdict_off_cpu_share(const struct report *run, enum fault_class class)
{
	const struct fault_figures *faults = &run->faults.classes[class];

	if (!run->faults.parts_known || !faults->whole.total_ns)
		return 0;
	return share_of(verdict_off_cpu_ns(faults), faults->whole.total_ns);
}

static uint64_t ns_in_part(const struct wait_row *row, unsigned int part)
{
	return row->parts_ns[part];
}

static uint64_t ns_in_class(const struct wait_row *row, unsigned int class)
{
	return row->classes_ns[class];
}

/* The cause for at least VERDICT_WAIT_SHARE of whole_ns. @index: argument for ns_in */
static const char *main_cause(const struct report *run,
			      uint64_t (*ns_in)(const struct wait_row *row, unsigned int index),
			      unsigned int index, double whole_ns)
{
	const struct wait_row *rows = run->waits.rows;
	uint64_t cause_ns;
	size_t i, j;

	for (i = 0; i < run->waits.nr; i++) {
		if (!rows[i].cause)
			continue;
		cause_ns = 0;
		for (j = 0; j < run->waits.nr; j++)
			if (rows[j].cause && !strcmp(rows[i].cause, rows[j].cause))
				cause_ns += ns_in(&rows[j], index);
		if (cause_ns && cause_ns >= VERDICT_WAIT_SHARE * whole_ns)
			return rows[i].cause;
	}
	return NULL;
}

const char *verdict_wait_cause(const struct report *run, enum part part)
{
	return main_cause(run, ns_in_part, part, run->faults.all.parts[part].total_ns);
}

const char *verdict_class_wait_cause(const struct report *run, enum fault_class class)
{
	return main_cause(run, ns_in_class, class,
			  verdict_off_cpu_share(run, class) *
				  run->faults.classes[class].whole.total_ns);
}

static uint64_t ns_asleep_in_minor(const struct wait_row *row, unsigned int index)
{
	(void)index;
	return row->minor_asleep_ns;
}

const char *verdict_minor_wait_cause(const struct report *run)
{
	const struct evidence_perf *perf = &run->evidence.perf;

	return main_cause(run, ns_asleep_in_minor, 0,
			  perf->minor.off_cpu_ns - perf->minor_named_ns);
}

double verdict_mean_us(const struct report *run, enum fault_class class)
{
	const struct fault_figures *faults = &run->faults.classes[class];

	return faults->count ? faults->whole.total_ns / 1e3 / faults->count : 0;
}

const char *verdict_span(char *text, uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(text, VERDICT_SPAN, "%.2f s", ns / 1e9);
	else
		snprintf(text, VERDICT_SPAN, "%.1f ms", ns / 1e6);
	return text;
}

/* No rule applies: name the largest class and part, and the next measurement. */
static void state_unknown(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	enum part part, longest = 0;

	for (part = 0; part < NR_PARTS; part++)
		if (verdict_part_share(run, part) > verdict_part_share(run, longest))
			longest = part;
	cause->rule = "unknown";
	cause->weight = 0;
	cause->certain = false;
	verdict_state(cause, "no rule names a cause; most of the time is class %s (%.0f %%)",
		      fault_class_name(verdict->class), 100 * verdict->class_share);
	if (run->faults.parts_known)
		verdict_add(cause, " and part %s (%.0f %%)", part_name(longest),
			    100 * verdict_part_share(run, longest));
	verdict_add(cause, ".");
	verdict_advise(
		cause,
		view_source_is_perf(run) ?
			"pfdrive record --by stack -- COMMAND shows the calls that led to the "
			"faults; eBPF (pfdrive as root) names the disk requests." :
			"pfdrive record --by stack -- COMMAND shows the calls that led to the "
			"faults.");
}

/*
 * The faults that the kernel took itself are no cause, but the program's calls are where to look.
 * If no rule names a cause, this is the next best.
 */
static bool state_kernel(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	*cause = (struct verdict_cause){ .rule = "kernel-mode", .certain = true };
	return verdict_wait_kernel(verdict, run, cause);
}

static void add_kernel(const struct report *run, struct verdict_cause *cause)
{
	const double guest = verdict_share_of(run, run->evidence.guest_ns);
	const double share =
		verdict_share_of(run, run->evidence.kernel_ns - run->evidence.guest_ns);

	if (guest >= VERDICT_WAIT_SHARE)
		verdict_add(cause,
			    " %.0f %% of the faults' time is on the memory of a guest, taken by "
			    "its virtual CPUs (KVM).",
			    100 * guest);
	if (share < VERDICT_WAIT_SHARE)
		return;
	verdict_add(cause, " %.0f %% of the faults' time is in system calls", 100 * share);
	verdict_code_add_caller(cause, run);
	verdict_add(cause, ".");
}

/* Causes that go on are printed first, then by weight, or else in the order of the rules. */
static bool comes_before(const struct verdict_cause *cause, const struct verdict_cause *other)
{
	if (cause->outside != other->outside)
		return cause->outside;
	if (cause->last != other->last)
		return other->last;
	if (cause->ended != other->ended)
		return other->ended;
	return cause->weight > other->weight;
}

/* How time is given to the causes: the certain ones first. */
static bool claims_before(const struct verdict_cause *cause, const struct verdict_cause *other)
{
	if (cause->certain != other->certain)
		return cause->certain;
	return comes_before(cause, other);
}

/* True if the causes found so far have claimed most of this time. */
static bool is_covered(const struct verdict *verdict, const struct report *run,
		       const struct verdict_cause *cause)
{
	const struct verdict_cause *before;
	double covered = 0;

	for (before = verdict->causes; before < verdict->causes + verdict->nr_causes; before++)
		covered +=
			verdict_share_of(run,
					 verdict_claimed_ns(run,
							    (struct verdict_claim){
								    before->claim.classes &
									    cause->claim.classes,
								    before->claim.parts &
									    cause->claim.parts }));
	return covered > cause->weight / 2;
}

static bool has_losses(const struct report_losses *losses)
{
	return losses->damage || (losses->records != COUNT_NA && losses->records) ||
	       (losses->events != COUNT_NA && losses->events);
}

/* What each row found. If its rule does not apply, or gives way, the cause has no rule. */
struct findings {
	struct verdict_cause causes[ARRAY_SIZE(verdict_rules)];
};

static bool stands(const struct findings *findings, verdict_applies *applies, bool certain)
{
	size_t row = 0;

	while (verdict_rules[row].applies != applies)
		row++;
	return findings->causes[row].rule && (findings->causes[row].certain || !certain);
}

static bool gives_way(const struct verdict_rule *rule, const struct findings *findings)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rule->unless) && rule->unless[i]; i++)
		if (stands(findings, rule->unless[i], false))
			return true;
	return rule->unless_certain && stands(findings, rule->unless_certain, true);
}

/* Sets *passed_ns to the time when most of the classes' faults had passed, if it is early. */
static bool has_ended(const struct verdict *verdict, const struct report *run, uint32_t classes,
		      uint64_t *passed_ns)
{
	*passed_ns = fault_times_passed_ns(&run->evidence.times, classes, ENDED_MOST);
	return *passed_ns && *passed_ns <= ENDED_SHARE * verdict->wall_ns &&
	       verdict->wall_ns - *passed_ns >= ENDED_LEAST_NS;
}

static void weigh_rules(struct findings *findings, const struct verdict *verdict,
			const struct report *run)
{
	struct verdict_cause *cause;
	uint64_t passed_ns;
	const bool all_ended = has_ended(verdict, run, VERDICT_ALL, &passed_ns);
	bool lossy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verdict_rules); i++) {
		cause = &findings->causes[i];
		*cause = (struct verdict_cause){ .rule = verdict_rules[i].name,
						 .settings = verdict_rules[i].settings,
						 .certain = true };
		if ((verdict->small && !verdict_rules[i].always) ||
		    !verdict_rules[i].applies(verdict, run, cause))
			cause->rule = NULL;
		cause->ended = !cause->outside && cause->claim.classes && !all_ended &&
			       has_ended(verdict, run, cause->claim.classes, &passed_ns);
	}
	/* In the order of the rows: no rule gives way to one that was dropped before. */
	for (i = 0; i < ARRAY_SIZE(verdict_rules); i++)
		if (gives_way(&verdict_rules[i], findings))
			findings->causes[i].rule = NULL;
	lossy = has_losses(&run->losses) || stands(findings, verdict_perf_unseen, false);
	for (i = 0; i < ARRAY_SIZE(verdict_rules) && lossy; i++)
		findings->causes[i].certain = false;
}

/* Takes the next cause to which time is given out of the findings. Returns false at the end. */
static bool take_next(struct findings *findings, struct verdict_cause *next)
{
	struct verdict_cause *cause = findings->causes, *first = NULL;

	for (; cause < findings->causes + ARRAY_SIZE(verdict_rules); cause++)
		if (cause->rule && (!first || claims_before(cause, first)))
			first = cause;
	if (!first)
		return false;
	*next = *first;
	first->rule = NULL;
	return true;
}

static void add_by_weight(struct verdict *verdict, const struct verdict_cause *cause)
{
	struct verdict_cause *causes = verdict->causes;
	size_t at = verdict->nr_causes++;

	for (; at && comes_before(cause, &causes[at - 1]); at--)
		causes[at] = causes[at - 1];
	causes[at] = *cause;
}

void verdict_add_idle(struct verdict_cause *cause, const struct verdict *verdict)
{
	const double least = 100 * verdict->active.least, most = 100 * verdict->active.most;

	verdict_add(cause,
		    "%she threads were asleep or stopped for most of the run; page faults took ",
		    cause->text[0] ? " T" : "t");
	if (most - least >= 1)
		verdict_add(cause, "%.0f to ", least);
	verdict_add(cause, "%.0f %% of the rest.", most);
}

/*
 * If a program is idle for most of the run, the importance of these causes depends on what waits
 * for the program.
 */
static void add_idle(struct verdict *verdict)
{
	size_t i;

	/* A program slowed down outside the faults also seems to be idle. */
	if (!verdict->idle)
		return;
	for (i = 0; i < verdict->nr_causes; i++)
		verdict->causes[i].certain = verdict->causes[i].certain &&
					     verdict->causes[i].outside;
	if (verdict->causes[0].outside)
		return;
	verdict_add_idle(&verdict->causes[0], verdict);
}

/* Faults that end early are those of a start. */
static void add_ended(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause, bool first)
{
	char span[VERDICT_SPAN];
	uint64_t passed_ns;

	if (cause->outside)
		return;
	if (has_ended(verdict, run, VERDICT_ALL, &passed_ns)) {
		if (first)
			verdict_add(cause,
				    " %.0f %% of the faults' time was in the first %s of "
				    "the run.",
				    100 * ENDED_MOST, verdict_span(span, passed_ns));
	} else if (cause->ended && has_ended(verdict, run, cause->claim.classes, &passed_ns)) {
		verdict_add(cause, " %.0f %% of their time was in the first %s of the run.",
			    100 * ENDED_MOST, verdict_span(span, passed_ns));
	}
}

void verdict_find_causes(struct verdict *verdict, const struct report *run)
{
	struct findings findings;
	struct verdict_cause cause;
	size_t i;

	weigh_rules(&findings, verdict, run);
	while (verdict->nr_causes < VERDICT_CAUSES && take_next(&findings, &cause))
		if (!is_covered(verdict, run, &cause))
			add_by_weight(verdict, &cause);
	if (verdict->nr_causes) {
		add_kernel(run, &verdict->causes[0]);
		for (i = 0; i < verdict->nr_causes; i++)
			add_ended(verdict, run, &verdict->causes[i], !i);
		add_idle(verdict);
		for (i = 0; i < verdict->nr_causes; i++)
			verdict_state_saving(&verdict->causes[i], run);
		return;
	}
	verdict->nr_causes = 1;
	if (verdict->small || verdict->idle)
		verdict_nothing_state(verdict, run, &verdict->causes[0]);
	else if (!state_kernel(verdict, run, &verdict->causes[0]))
		state_unknown(verdict, run, &verdict->causes[0]);
	verdict->causes[0].certain = verdict->causes[0].certain && !has_losses(&run->losses);
}
