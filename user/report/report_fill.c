// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/version.h"

/* Lines with names, and no figures. */
static void init_usage(struct usage_line *lines)
{
	struct usage_seen seen = { .elapsed_ns = FACT_NONE };
	struct facts facts;

	facts_init(&facts);
	usage_compare(lines, &facts, &seen);
}

void report_init(struct report *report)
{
	*report = (struct report){
		.environment = {
			.version = PFDRIVE_VERSION,
			.readahead_bytes = -1,
			.pinned_cpu = -1,
		},
		.elapsed_ns = FACT_NONE, .counted_ns = FACT_NONE,
		.calls = FACT_NONE,
		.lost = FACT_NONE,
		.call_cost_ps = FACT_NONE,
		.inside_ps = FACT_NONE,
		.bpf_hooked_ps = FACT_NONE,
		.bpf_again_ps = FACT_NONE,
		.bpf_other_ps = FACT_NONE,
		.bpf_hooked = FACT_NONE,
		.bpf_again = FACT_NONE,
		.bpf_other = FACT_NONE,
		.pages_touched = FACT_NONE,
		.pages_written = FACT_NONE,
		.events_lost = FACT_NONE,
		.events_skipped = FACT_NONE,
		.events_sent = FACT_NONE,
		.events_received = FACT_NONE,
		.off_cpu_count = FACT_NONE,
		.maps_lost = FACT_NONE,
		.names_left_out = FACT_NONE,
		.top = REPORT_TOP,
		.repeat = 1,
		.repeats = 1,
	};
	usage_init(&report->rusage);
	init_usage(report->measures.usage);
}

void report_exit(struct report *report)
{
	free(report->groups);
	report->groups = NULL;
	report->nr_groups = 0;
	free(report->blame);
	report->blame = NULL;
	report->nr_blame = 0;
	measures_exit(&report->measures);
}

/* Returns of handle_mm_fault(), of hooked files or of all others. */
static uint64_t count_returns(const struct facts *facts, bool hooked,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;
	bool is_hooked;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		is_hooked = kind == PFSTAT_FAULT_HOOKED;
		if (is_hooked == hooked)
			sum = facts_sum(sum, facts_returns(facts, kind, outcome));
	}
	return sum;
}

/* A fault of a hooked file that is begun again is no whole one; of others an event is sent. */
static void fill_bpf_cost(struct report *report, const struct facts *facts)
{
	enum pfstat_fault_outcome outcome;
	uint64_t *sum;

	report->bpf_hooked_ps = facts->bpf_hooked_ps;
	report->bpf_again_ps = facts->bpf_again_ps;
	report->bpf_other_ps = facts->bpf_other_ps;
	report->bpf_hooked = 0;
	report->bpf_again = 0;
	report->bpf_other = 0;
	for (outcome = 0; outcome < PFSTAT_NR_OUTCOMES; outcome++) {
		sum = outcome == PFSTAT_OUTCOME_RETRY ? &report->bpf_again : &report->bpf_hooked;
		*sum = facts_sum(*sum, count_returns(facts, true, outcome));
		report->bpf_other = facts_sum(report->bpf_other,
					      count_returns(facts, false, outcome));
	}
}

static void fill_bpf(struct report *report, const struct facts *facts)
{
	report->have_counts = facts->have_bpf;
	if (!facts->have_bpf) {
		if (facts->bpf_missing[0])
			strcpy(report->bpf_missing, facts->bpf_missing);
		return;
	}
	report->have_bpf = true;
	report->bpf_missing[0] = '\0';
	report->hooks = facts->hooks;
	report->events_lost = facts_sum(facts->counts[PFSTAT_COUNT_EVENTS_LOST],
					facts->counts[PFSTAT_COUNT_SYSCALL_LOST]);
	report->events_skipped = facts->events_skipped;
	report->events_sent = facts->counts[PFSTAT_COUNT_EVENTS];
	report->events_received = facts->events_received;
	report->off_cpu_count = facts->counts[PFSTAT_COUNT_OFF_CPU];
	fill_bpf_cost(report, facts);
	report->syscalls = facts->syscalls;
	report->nr_syscalls = facts->nr_syscalls;
}

static void fill_facts(struct report *report, const struct facts *facts)
{
	/* A drive times its loop itself. */
	if (report->elapsed_ns == FACT_NONE && facts->end_ns != FACT_NONE &&
	    facts->start_ns != FACT_NONE)
		report->elapsed_ns = facts->end_ns - facts->start_ns;
	report->counted_ns = facts->counts_start_ns == FACT_NONE || facts->end_ns == FACT_NONE ?
			     report->elapsed_ns : facts->end_ns - facts->counts_start_ns;
	report->calls = facts->calls;
	report->lost = facts->lost;
	report->call_cost_ps = facts->call_cost_ps;
	report->inside_ps = facts->inside_ps;
	report->maps_lost = facts->maps_lost;
	report->names_left_out = facts->names_left_out;
	report->rusage = facts->usage;
	fill_bpf(report, facts);
}

/* What is compared with getrusage(2), and the system calls by name. */
static int fill_measures(struct report *report, const struct analysis *analysis,
			 const struct facts *facts)
{
	struct measures *measures = &report->measures;
	struct usage_seen seen = {
		.bytes_read = report->blocks.bytes_read,
		.bytes_written = report->blocks.bytes_written,
		.elapsed_ns = report->counted_ns,
		.one_thread = facts->hooked_only,
	};

	analysis_off_cpu(analysis, &seen.voluntary, &seen.preempted, &seen.off_cpu_ns);
	usage_compare(measures->usage, facts, &seen);
	return syscall_totals(facts->syscalls, facts->nr_syscalls, &measures->syscalls,
			      &measures->nr_syscalls);
}

int report_fill(struct report *report, const struct analysis *analysis, const struct facts *facts)
{
	struct summary_figures figures;
	enum fault_class class;
	int err;

	fill_facts(report, facts);
	report->summary = analysis_summary(analysis);
	summary_figures(report->summary, &figures);
	ledger_make(&report->ledger, facts, &figures);
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		analysis_faults(analysis, class, &report->faults[class]);
	analysis_all_faults(analysis, &report->all_faults);
	report->parts_known = report->have_bpf;
	analysis_readahead(analysis, &report->readahead);
	analysis_blocks(analysis, &report->blocks);
	analysis_evictions(analysis, &report->evictions);
	if (analysis_dropped(analysis))
		report->maps_lost = (report->maps_lost == FACT_NONE ? 0 : report->maps_lost) +
				    analysis_dropped(analysis);
	err = analysis_blame(analysis, &report->blame, &report->nr_blame);
	if (!err)
		err = fill_measures(report, analysis, facts);
	if (err || !report->grouped)
		return err;
	return analysis_groups(analysis, report->by, &report->groups, &report->nr_groups);
}
