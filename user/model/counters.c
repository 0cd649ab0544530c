// SPDX-License-Identifier: GPL-2.0-only
/*
 * Initializes, frees and sums a run's counters. Collectors and recordings fill them, and the ledger
 * and the reports read them. A sum that includes an unknown count is unknown.
 */
#include <stdlib.h>

#include "model/counters.h"

static void nothing_of_bpf(struct run_counters *counters)
{
	unsigned int i;

	for (i = 0; i < PFSTAT_NR_COUNTS; i++)
		counters->counts[i] = COUNT_NA;
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++)
		counters->faults[i] = (struct pfstat_fault_value){ COUNT_NA, COUNT_NA };
	counters->task_minor = COUNT_NA;
	counters->task_major = COUNT_NA;
}

void run_counters_init(struct run_counters *counters)
{
	*counters = (struct run_counters){
		.start_ns = COUNT_NA,
		.end_ns = COUNT_NA,
		.counts_start_ns = COUNT_NA,
		.calls = COUNT_NA,
		.faults_lost = COUNT_NA,
		.faults_unwatched = COUNT_NA,
		.lost = COUNT_NA,
		.call_cost_ps = COUNT_NA,
		.inside_ps = COUNT_NA,
		.bpf_hooked_ps = COUNT_NA,
		.bpf_again_ps = COUNT_NA,
		.bpf_other_ps = COUNT_NA,
		.memory_limit = COUNT_NA,
		.memory_peak = COUNT_NA,
		.perf_faults = COUNT_NA,
		.perf_minor = COUNT_NA,
		.perf_major = COUNT_NA,
		.perf_failed = COUNT_NA,
		.perf_unpaired = COUNT_NA,
		.perf_partial = COUNT_NA,
		.perf_forgotten = COUNT_NA,
		.perf_exec_pages = COUNT_NA,
		.perf_ended = COUNT_NA,
		.maps_lost = COUNT_NA,
		.maps_late_cpus = COUNT_NA,
		.names_left_out = COUNT_NA,
		.events_received = COUNT_NA,
		.events_skipped = COUNT_NA,
	};
	usage_init(&counters->usage);
	cgroup_limits_init(&counters->cgroup);
	nothing_of_bpf(counters);
}

uint64_t count_sum(uint64_t a, uint64_t b)
{
	return a == COUNT_NA || b == COUNT_NA ? COUNT_NA : a + b;
}

uint64_t run_counters_events_lost(const struct run_counters *counters)
{
	if (!counters->have_bpf)
		return COUNT_NA;
	return count_sum(counters->counts[PFSTAT_COUNT_EVENTS_LOST],
			 counters->faults_lost == COUNT_NA ? 0 : counters->faults_lost);
}

uint64_t run_counters_returns(const struct run_counters *counters, enum pfstat_fault_kind kind,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_origin origin;
	uint64_t sum = 0;

	for (origin = 0; origin < PFSTAT_NR_ORIGINS; origin++)
		sum = count_sum(sum,
				counters->faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)].count);
	return sum;
}

static uint64_t run_counters_errors(const struct run_counters *counters,
				    enum pfstat_fault_origin origin)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;
	unsigned int index;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		index = PFSTAT_FAULT_INDEX(kind, origin, PFSTAT_OUTCOME_ERROR);
		sum = count_sum(sum, counters->faults[index].count);
	}
	return sum;
}

/*
 * The kernel's own access ends with EFAULT, a program's with a signal. A program's faults that
 * returned an error got SIGBUS, or SIGSEGV in a guard page. Older recordings have only the SIGSEGV
 * count.
 */
uint64_t run_counters_failed(const struct run_counters *counters)
{
	const uint64_t *counts = counters->counts;
	uint64_t failed = counts[PFSTAT_COUNT_SEGV];

	if (!counters->have_bpf)
		return COUNT_NA;
	if (counters->hooks & 1U << HOOK_PERF)
		return counters->perf_failed;
	if (!(counters->hooks & 1U << HOOK_SIGNAL))
		return COUNT_NA;
	failed = count_sum(failed, counts[PFSTAT_COUNT_BUS] != COUNT_NA ?
					   counts[PFSTAT_COUNT_BUS] :
					   run_counters_errors(counters, PFSTAT_ORIGIN_USER));
	return count_sum(failed, run_counters_errors(counters, PFSTAT_ORIGIN_KERNEL));
}

/* The number to add may be negative. */
static uint64_t run_counters_add_returns(const struct run_counters *counters,
					 enum pfstat_fault_outcome outcome, uint64_t sum)
{
	unsigned int i;

	for (i = outcome; i < PFSTAT_NR_FAULT_INDICES; i += PFSTAT_NR_OUTCOMES)
		sum += counters->faults[i].count;
	return sum;
}

void run_counters_fill_task(struct run_counters *counters, const struct pfstat_missed *missed)
{
	counters->task_minor =
		run_counters_add_returns(counters, PFSTAT_OUTCOME_MINOR, missed->minor);
	counters->task_major =
		run_counters_add_returns(counters, PFSTAT_OUTCOME_MAJOR, missed->major);
}

void run_counters_exit(struct run_counters *counters)
{
	free(counters->syscalls);
	counters->syscalls = NULL;
	counters->nr_syscalls = 0;
	free(counters->swap_rows);
	counters->swap_rows = NULL;
	counters->nr_swap_rows = 0;
}
