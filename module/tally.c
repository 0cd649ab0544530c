// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts and log2 histograms by class, see tally.h. The wrappers write their CPU's copy, and
 * `stats` reads the sum.
 */
#include <linux/string.h>

#include "tally.h"

DEFINE_PER_CPU(struct fast_tallies, pfstat_tallies);
struct call_tally __percpu *pfstat_slow_tallies __ro_after_init;

int pfstat_tally_init(void)
{
	pfstat_slow_tallies = alloc_percpu(struct call_tally);
	return pfstat_slow_tallies ? 0 : -ENOMEM;
}

void pfstat_tally_exit(void)
{
	free_percpu(pfstat_slow_tallies);
}

size_t pfstat_tally_bytes(void)
{
	return sizeof(struct fast_tallies) + sizeof(struct call_tally);
}

void pfstat_tally_reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&pfstat_tallies, cpu), 0, sizeof(struct fast_tallies));
		memset(per_cpu_ptr(pfstat_slow_tallies, cpu), 0, sizeof(struct call_tally));
	}
}

static void tally_merge_fast(struct call_tally *sum, const struct fast_tally *fast,
			     enum pfstat_op op, enum pfstat_class class)
{
	int i;

	sum->total_ns[class] += fast->total_ns;
	sum->max_ns[class] = max(sum->max_ns[class], fast->max_ns);
	for (i = 0; i < TALLY_FAST_BUCKETS; i++) {
		sum->histogram[class][pfstat_tally_bucket(i)] += fast->histogram[i];
		sum->op[op] += fast->histogram[i];
	}
}

static void tally_merge(struct call_tally *sum, const struct call_tally *part)
{
	int class, i;

	for (class = 0; class < PFSTAT_NR_CLASSES; class++) {
		sum->total_ns[class] += part->total_ns[class];
		sum->max_ns[class] = max(sum->max_ns[class], part->max_ns[class]);
		for (i = 0; i < TALLY_BUCKETS; i++)
			sum->histogram[class][i] += part->histogram[class][i];
	}
	for (i = 0; i < PFSTAT_NR_OPS; i++)
		sum->op[i] += part->op[i];
	sum->retried += part->retried;
}

void pfstat_tally_sum(struct call_tally *sum)
{
	const struct fast_tallies *part;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		tally_merge(sum, per_cpu_ptr(pfstat_slow_tallies, cpu));
		part = per_cpu_ptr(&pfstat_tallies, cpu);
		tally_merge_fast(sum, &part->fast[FAST_FAULT], PFSTAT_OP_FAULT, PFSTAT_CLASS_LONG);
		tally_merge_fast(sum, &part->fast[FAST_MAP_PAGES], PFSTAT_OP_MAP_PAGES,
				 PFSTAT_CLASS_AROUND);
	}
}

u64 pfstat_tally_count(const struct call_tally *tally, enum pfstat_class class)
{
	u64 count = 0;
	int i;

	for (i = 0; i < TALLY_BUCKETS; i++)
		count += tally->histogram[class][i];
	return count;
}
