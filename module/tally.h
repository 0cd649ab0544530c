/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts and log2 histograms by class, so that `stats` needs no tool and does
 * not depend on the rings: it is exact even when records were lost.
 */
#ifndef PFSTAT_TALLY_H
#define PFSTAT_TALLY_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <pfstat/record.h>

/* Bucket n holds 2^(n-1) <= ns < 2^n, bucket 0 holds 0 ns, the last also all longer. */
#define TALLY_BUCKETS 40

struct tally {
	u64 total_ns[PFSTAT_NR_CLASSES];
	u64 max_ns[PFSTAT_NR_CLASSES];
	u64 histogram[PFSTAT_NR_CLASSES][TALLY_BUCKETS];
	u64 op[PFSTAT_NR_OPS];
	u64 retried;		/* calls that returned RETRY */
};

DECLARE_PER_CPU(struct tally, pfstat_tallies);

void pfstat_tally_reset(void);	/* no writer may be active */
void pfstat_tally_sum(struct tally *sum);
u64 pfstat_tally_count(const struct tally *tally, enum pfstat_class class);

/* The hot path; preemption is off. */
static inline void pfstat_tally_add(const struct pfstat_record *record)
{
	struct tally *tally = this_cpu_ptr(&pfstat_tallies);
	unsigned int bucket = fls64(record->duration_ns);

	tally->total_ns[record->class] += record->duration_ns;
	if (record->duration_ns > tally->max_ns[record->class])
		tally->max_ns[record->class] = record->duration_ns;
	tally->histogram[record->class][min_t(unsigned int, bucket, TALLY_BUCKETS - 1)]++;
	tally->op[record->op]++;
	if (record->result & PFSTAT_RESULT_RETRY)
		tally->retried++;
}

#endif
