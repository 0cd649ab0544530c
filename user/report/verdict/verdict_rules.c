// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of rules, and the helpers that they share. The rules about files, memory and waits
 * are in verdict_disk.c, verdict_memory.c and verdict_wait.c. A cause is only certain if nothing
 * was lost.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/verdict/verdict_rules.h"
#include "report/view.h"
#include "util/array.h"

static const struct verdict_rule verdict_rules[] = {
	{ "no-read-ahead", verdict_no_readahead },
	{ "read-around", verdict_read_around },
	{ "read-amplification", verdict_amplified },
	{ "cold-file", verdict_cold },
	{ "file-holes", verdict_holes },
	{ "device-queue", verdict_queue },
	{ "page-mkwrite", verdict_page_mkwrite },
	{ "cached-pages", verdict_cached },
	{ "copy-after-fork", verdict_fork },
	{ "swap", verdict_swap },
	{ "refaults", verdict_refault },
	{ "first-touch", verdict_first_touch },
	{ "shared-memory", verdict_shared_memory },
	{ "cpu-wait", verdict_runqueue },
	{ "contention", verdict_contention },
	{ "reclaim", verdict_reclaim },
	{ "foreign-read", verdict_foreign },
	{ "kernel-mode", verdict_kernel },
	{ "cold-file", verdict_perf_cold },
	{ "cached-pages", verdict_perf_cached },
	{ "faulted-again", verdict_perf_again },
	{ "asleep", verdict_perf_asleep },
	{ "moved-memory", verdict_perf_moved },
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

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (double)part_ns / whole_ns : 0;
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

static uint64_t off_cpu_ns(const struct fault_figures *faults)
{
	return faults->whole.total_ns - fault_figures_cpu_ns(faults) - faults->reclaim_cpu_ns;
}

double verdict_off_cpu_share(const struct report *run, enum fault_class class)
{
	const struct fault_figures *faults = &run->faults.classes[class];

	if (!run->faults.parts_known || !faults->whole.total_ns)
		return 0;
	return share_of(off_cpu_ns(faults), faults->whole.total_ns);
}

static uint64_t ns_in_part(const struct wait_row *row, unsigned int part)
{
	return row->parts_ns[part];
}

static uint64_t ns_in_class(const struct wait_row *row, unsigned int class)
{
	return row->classes_ns[class];
}

/* The cause of at least VERDICT_WAIT_SHARE of whole_ns. @index: argument of ns_in */
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

/* A service that waits for requests is idle for most of the run. */
static bool was_idle(const struct verdict *verdict, const struct report *run, double *active_share)
{
	const struct fault_figures *all = &run->faults.all;
	uint64_t active_ns;

	if (run->usage.utime_ns == COUNT_NA || run->usage.stime_ns == COUNT_NA ||
	    !run->faults.parts_known)
		return false;
	/*
	 * A thread that waits for a CPU is not idle. Its wait in a fault counts twice: idle is the
	 * exception.
	 */
	active_ns = run->usage.utime_ns + run->usage.stime_ns + off_cpu_ns(all) +
		    run->evidence.waiting_ns;
	*active_share = share_of(all->whole.total_ns, active_ns);
	return active_ns < 0.2 * verdict->wall_ns && *active_share >= VERDICT_CAUSE_SHARE;
}

static void state_nothing(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	double active_share;

	cause->rule = "nothing-wrong";
	cause->weight = 1;
	cause->certain = !verdict->at_least;
	if (!cause->certain && view_source_is_perf(run)) {
		verdict_state(cause, "the faults that perf shows to this user cost little; those "
				     "in system calls are not among them.");
		verdict_advise(cause, "record as root, or with kernel.perf_event_paranoid=1.");
	} else if (!cause->certain) {
		verdict_state(cause,
			      "only faults of hooked files are known, and they cost little.");
		verdict_advise(cause, "record as root with eBPF, which sees all faults.");
	} else if (was_idle(verdict, run, &active_share)) {
		cause->certain = false;
		verdict_state(cause,
			      "the program was idle for most of the run; page faults were %.0f %% "
			      "of its activity.",
			      100 * active_share);
		verdict_advise(cause, "record while it is busy; pfdrive report --by thread names "
				      "the threads that faulted.");
	} else {
		verdict_state(cause,
			      "nothing is wrong with page faults; they do not slow this run.");
		verdict_advise(cause, "perf record for the CPU's time, perf trace -s for system "
				      "calls.");
	}
}

/* No rule applies: name the largest class and part, and the next measurement. */
static void state_unknown(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	static const char *const names[NR_PARTS] = PART_NAMES;
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
		verdict_add(cause, " and part %s (%.0f %%)", names[longest],
			    100 * verdict_part_share(run, longest));
	verdict_add(cause, ".");
	verdict_advise(
		cause,
		view_source_is_perf(run) ?
			"perf record -e page-faults -c 1 -g -- COMMAND shows the calls that "
			"led to the faults; eBPF (pfdrive as root) names the waits." :
			"pfdrive record --by stack -- COMMAND shows the calls that led to the "
			"faults.");
}

/* Inserts the cause by weight; drops the lightest one if there are too many. */
static void verdict_keep(struct verdict *verdict, const struct verdict_cause *cause)
{
	size_t at = verdict->nr_causes;

	while (at && verdict->causes[at - 1].weight < cause->weight)
		at--;
	if (at == VERDICT_CAUSES)
		return;
	if (verdict->nr_causes < VERDICT_CAUSES)
		verdict->nr_causes++;
	memmove(&verdict->causes[at + 1], &verdict->causes[at],
		(verdict->nr_causes - at - 1) * sizeof(*cause));
	verdict->causes[at] = *cause;
}

static bool has_losses(const struct report_losses *losses)
{
	return losses->damage || (losses->records != COUNT_NA && losses->records) ||
	       (losses->events != COUNT_NA && losses->events);
}

void verdict_find_causes(struct verdict *verdict, const struct report *run)
{
	struct verdict_cause cause;
	size_t i;

	if (verdict->share < VERDICT_WRONG_SHARE) {
		state_nothing(verdict, run, &verdict->causes[0]);
		verdict->nr_causes = 1;
	}
	for (i = 0; i < ARRAY_SIZE(verdict_rules) && verdict->share >= VERDICT_WRONG_SHARE; i++) {
		cause = (struct verdict_cause){ .rule = verdict_rules[i].name, .certain = true };
		if (verdict_rules[i].applies(verdict, run, &cause))
			verdict_keep(verdict, &cause);
	}
	if (!verdict->nr_causes) {
		state_unknown(verdict, run, &verdict->causes[0]);
		verdict->nr_causes = 1;
	}
	for (i = 0; i < verdict->nr_causes && has_losses(&run->losses); i++)
		verdict->causes[i].certain = false;
}
