// SPDX-License-Identifier: GPL-2.0-only
/* Fault counts at handle_mm_fault(), per CPU, see mm_counts.h. */
#include <linux/string.h>

#include "mm_counts.h"

/* All faults on the fast path have one kind. */
#define MM_FAST_INDEX \
	PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER, PFSTAT_OUTCOME_MINOR)

struct mm_counts __percpu *pfstat_mm_counts __read_mostly;
DEFINE_PER_CPU(long, pfstat_mm_in_flight);
DEFINE_PER_CPU(u64, pfstat_mm_fast);

int pfstat_mm_counts_start(void)
{
	if (!pfstat_mm_counts)
		pfstat_mm_counts = alloc_percpu(struct mm_counts);
	return pfstat_mm_counts ? 0 : -ENOMEM;
}

void pfstat_mm_counts_sum(struct mm_counts *sum)
{
	const struct mm_counts *counts;
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	if (!pfstat_mm_counts)
		return;
	for_each_possible_cpu(cpu) {
		counts = per_cpu_ptr(pfstat_mm_counts, cpu);
		for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++) {
			sum->faults[i].count += READ_ONCE(counts->faults[i].count);
			sum->faults[i].total_ns += READ_ONCE(counts->faults[i].total_ns);
		}
		sum->stored += READ_ONCE(counts->stored);
		sum->lost += READ_ONCE(counts->lost);
		sum->faults[MM_FAST_INDEX].count += READ_ONCE(per_cpu(pfstat_mm_fast, cpu));
	}
}

u64 pfstat_mm_counts_stored(void)
{
	u64 sum = 0;
	int cpu;

	if (!pfstat_mm_counts)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(pfstat_mm_counts, cpu)->stored);
	return sum;
}

void pfstat_mm_counts_reset(void)
{
	int cpu;

	if (!pfstat_mm_counts)
		return;
	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(pfstat_mm_counts, cpu), 0, sizeof(*pfstat_mm_counts));
		per_cpu(pfstat_mm_fast, cpu) = 0;
	}
}

long pfstat_mm_counts_in_flight(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(pfstat_mm_in_flight, cpu));
	return sum;
}

size_t pfstat_mm_counts_bytes(void)
{
	return sizeof(pfstat_mm_in_flight) + sizeof(pfstat_mm_fast) +
	       (pfstat_mm_counts ? sizeof(struct mm_counts) : 0);
}

void pfstat_mm_counts_exit(void)
{
	free_percpu(pfstat_mm_counts);
}
