// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "model/counters.h"

static void nothing_of_bpf(struct facts *facts)
{
	unsigned int i;

	for (i = 0; i < PFSTAT_NR_COUNTS; i++)
		facts->counts[i] = FACT_NONE;
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++)
		facts->faults[i] = (struct pfstat_fault_value){ FACT_NONE, FACT_NONE };
	facts->task_minor = FACT_NONE;
	facts->task_major = FACT_NONE;
}

void facts_init(struct facts *facts)
{
	*facts = (struct facts){
		.start_ns = FACT_NONE, .end_ns = FACT_NONE, .counts_start_ns = FACT_NONE,
		.calls = FACT_NONE, .lost = FACT_NONE,
		.call_cost_ps = FACT_NONE, .inside_ps = FACT_NONE,
		.bpf_hooked_ps = FACT_NONE, .bpf_again_ps = FACT_NONE,
		.bpf_other_ps = FACT_NONE,
		.perf_faults = FACT_NONE, .perf_minor = FACT_NONE, .perf_major = FACT_NONE,
		.maps_lost = FACT_NONE, .names_left_out = FACT_NONE,
		.events_received = FACT_NONE,
		.events_skipped = FACT_NONE,
	};
	usage_init(&facts->usage);
	nothing_of_bpf(facts);
}

uint64_t facts_sum(uint64_t a, uint64_t b)
{
	return a == FACT_NONE || b == FACT_NONE ? FACT_NONE : a + b;
}

uint64_t facts_returns(const struct facts *facts, enum pfstat_fault_kind kind,
		       enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_origin origin;
	uint64_t sum = 0;

	for (origin = 0; origin < PFSTAT_NR_ORIGINS; origin++)
		sum = facts_sum(sum,
				facts->faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)].count);
	return sum;
}

void facts_exit(struct facts *facts)
{
	free(facts->syscalls);
	facts->syscalls = NULL;
	facts->nr_syscalls = 0;
	free(facts->swap_rows);
	facts->swap_rows = NULL;
	facts->nr_swap_rows = 0;
}
