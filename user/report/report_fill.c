// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/version.h"

/* Lines with names, and no figures. */
static void init_usage(struct usage_line *lines)
{
	struct usage_seen seen = { .elapsed_ns = COUNT_NA };
	struct run_counters counters;

	run_counters_init(&counters);
	usage_compare(lines, &counters, &seen);
}

void report_init(struct report *report)
{
	*report = (struct report){
		.environment = {
			.version = PFDRIVE_VERSION,
			.readahead_bytes = -1,
			.pinned_cpu = -1,
		},
		.elapsed_ns = COUNT_NA, .counted_ns = COUNT_NA,
		.calls = COUNT_NA,
		.lost = COUNT_NA,
		.call_cost_ps = COUNT_NA,
		.inside_ps = COUNT_NA,
		.bpf_hooked_ps = COUNT_NA,
		.bpf_again_ps = COUNT_NA,
		.bpf_other_ps = COUNT_NA,
		.bpf_hooked = COUNT_NA,
		.bpf_again = COUNT_NA,
		.bpf_other = COUNT_NA,
		.pages_touched = COUNT_NA,
		.pages_written = COUNT_NA,
		.events_lost = COUNT_NA,
		.events_skipped = COUNT_NA,
		.events_sent = COUNT_NA,
		.events_received = COUNT_NA,
		.off_cpu_count = COUNT_NA,
		.maps_lost = COUNT_NA,
		.names_left_out = COUNT_NA,
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
static uint64_t count_returns(const struct run_counters *counters, bool hooked,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;
	bool is_hooked;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		is_hooked = kind == PFSTAT_FAULT_HOOKED;
		if (is_hooked == hooked)
			sum = count_sum(sum, run_counters_returns(counters, kind, outcome));
	}
	return sum;
}

/* A fault of a hooked file that is begun again is no whole one; of others an event is sent. */
static void fill_bpf_cost(struct report *report, const struct run_counters *counters)
{
	enum pfstat_fault_outcome outcome;
	uint64_t *sum;

	report->bpf_hooked_ps = counters->bpf_hooked_ps;
	report->bpf_again_ps = counters->bpf_again_ps;
	report->bpf_other_ps = counters->bpf_other_ps;
	report->bpf_hooked = 0;
	report->bpf_again = 0;
	report->bpf_other = 0;
	for (outcome = 0; outcome < PFSTAT_NR_OUTCOMES; outcome++) {
		sum = outcome == PFSTAT_OUTCOME_RETRY ? &report->bpf_again : &report->bpf_hooked;
		*sum = count_sum(*sum, count_returns(counters, true, outcome));
		report->bpf_other = count_sum(report->bpf_other,
					      count_returns(counters, false, outcome));
	}
}

static void fill_bpf(struct report *report, const struct run_counters *counters)
{
	report->have_counts = counters->have_bpf;
	if (!counters->have_bpf) {
		if (counters->bpf_missing[0])
			strcpy(report->bpf_missing, counters->bpf_missing);
		return;
	}
	report->have_bpf = true;
	report->bpf_missing[0] = '\0';
	report->hooks = counters->hooks;
	report->events_lost = count_sum(counters->counts[PFSTAT_COUNT_EVENTS_LOST],
					counters->counts[PFSTAT_COUNT_SYSCALL_LOST]);
	report->events_skipped = counters->events_skipped;
	report->events_sent = counters->counts[PFSTAT_COUNT_EVENTS];
	report->events_received = counters->events_received;
	report->off_cpu_count = counters->counts[PFSTAT_COUNT_OFF_CPU];
	fill_bpf_cost(report, counters);
	report->syscalls = counters->syscalls;
	report->nr_syscalls = counters->nr_syscalls;
}

static void fill_counters(struct report *report, const struct run_counters *counters)
{
	/* A drive times its loop itself. */
	if (report->elapsed_ns == COUNT_NA && counters->end_ns != COUNT_NA &&
	    counters->start_ns != COUNT_NA)
		report->elapsed_ns = counters->end_ns - counters->start_ns;
	report->counted_ns = counters->counts_start_ns == COUNT_NA || counters->end_ns == COUNT_NA ?
			     report->elapsed_ns : counters->end_ns - counters->counts_start_ns;
	report->calls = counters->calls;
	report->lost = counters->lost;
	report->call_cost_ps = counters->call_cost_ps;
	report->inside_ps = counters->inside_ps;
	report->maps_lost = counters->maps_lost;
	report->names_left_out = counters->names_left_out;
	report->rusage = counters->usage;
	fill_bpf(report, counters);
}

/* What is compared with getrusage(2), and the system calls by name. */
static int fill_measures(struct report *report, const struct analysis *analysis,
			 const struct run_counters *counters)
{
	struct measures *measures = &report->measures;
	struct usage_seen seen = {
		.bytes_read = report->blocks.bytes_read,
		.bytes_written = report->blocks.bytes_written,
		.elapsed_ns = report->counted_ns,
		.one_thread = counters->hooked_only,
	};

	analysis_off_cpu(analysis, &seen.voluntary, &seen.preempted, &seen.off_cpu_ns);
	usage_compare(measures->usage, counters, &seen);
	return syscall_totals(counters->syscalls, counters->nr_syscalls, &measures->syscalls,
			      &measures->nr_syscalls);
}

int report_fill(struct report *report, const struct analysis *analysis,
		const struct run_counters *counters)
{
	struct summary_figures figures;
	enum fault_class class;
	int err;

	fill_counters(report, counters);
	report->summary = analysis_summary(analysis);
	summary_figures(report->summary, &figures);
	ledger_make(&report->ledger, counters, &figures);
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		analysis_faults(analysis, class, &report->faults[class]);
	analysis_all_faults(analysis, &report->all_faults);
	report->parts_known = report->have_bpf;
	analysis_readahead(analysis, &report->readahead);
	analysis_blocks(analysis, &report->blocks);
	analysis_evictions(analysis, &report->evictions);
	if (analysis_dropped(analysis))
		report->maps_lost = (report->maps_lost == COUNT_NA ? 0 : report->maps_lost) +
				    analysis_dropped(analysis);
	err = analysis_blame(analysis, &report->blame, &report->nr_blame);
	if (!err)
		err = fill_measures(report, analysis, counters);
	if (err || !report->grouped)
		return err;
	return analysis_groups(analysis, report->by, &report->groups, &report->nr_groups);
}
