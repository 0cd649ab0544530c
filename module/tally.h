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

#include "here.h"

/*
 * Bucket n holds 2^(n-1) <= ns < 2^n, bucket 0 holds 0 ns. The last bucket also holds longer times,
 * above 19 hours. The counters for fast calls have a bucket for each number, which saves a
 * comparison.
 */
#define TALLY_BUCKETS	   48
#define TALLY_FAST_BUCKETS 65

static inline unsigned int pfstat_tally_bucket(unsigned int bits)
{
	return min_t(unsigned int, bits, TALLY_BUCKETS - 1);
}

/* The calls that stayed on the fast path (fault_fast.c). A kind has one operation and one class. */
enum fast_kind {
	FAST_FAULT,	/* class long */
	FAST_MAP_PAGES, /* class around */
	NR_FAST_KINDS
};

struct fast_tally {
	u64 total_ns;
	u64 max_ns;
	u64 histogram[TALLY_FAST_BUCKETS];
};

/*
 * Only the fast path needs static per-CPU memory, of which all modules together have 8 KiB: it
 * reaches a member with one instruction.
 */
struct fast_tallies {
	struct fast_tally fast[NR_FAST_KINDS];
};

/* For the slow path, or for both paths when summed. */
struct call_tally {
	u64 total_ns[PFSTAT_NR_CLASSES];
	u64 max_ns[PFSTAT_NR_CLASSES];
	u64 histogram[PFSTAT_NR_CLASSES][TALLY_BUCKETS];
	u64 op[PFSTAT_NR_OPS];
	u64 retried; /* calls returning RETRY */
};

DECLARE_PER_CPU(struct fast_tallies, pfstat_tallies);
extern struct call_tally __percpu *pfstat_slow_tallies;

int pfstat_tally_init(void); /* -ENOMEM */
void pfstat_tally_exit(void);
size_t pfstat_tally_bytes(void); /* per CPU */
void pfstat_tally_reset(void);	 /* no writer may be active */
void pfstat_tally_sum(struct call_tally *sum);
u64 pfstat_tally_count(const struct call_tally *tally, enum pfstat_class class);

/* The fast path. Preemption is off. */
static __always_inline void pfstat_tally_add_fast(enum fast_kind kind, u64 duration_ns)
{
	struct fast_tallies *here = pfstat_here(pfstat_tallies);

	pfstat_here_add(here, pfstat_tallies, fast[kind].total_ns, duration_ns);
	if (unlikely(duration_ns > pfstat_here_read(here, pfstat_tallies, fast[kind].max_ns)))
		this_cpu_write(pfstat_tallies.fast[kind].max_ns, duration_ns);
	/* fls64() would ask whether it is 0. */
	pfstat_here_add(here, pfstat_tallies, fast[kind].histogram[__fls(2 * duration_ns + 1)], 1);
}

/* The slow path. Preemption is off. */
static inline void pfstat_tally_add(u8 op, u8 class, u64 duration_ns, bool retried)
{
	const unsigned int bucket = pfstat_tally_bucket(fls64(duration_ns));

	this_cpu_add(pfstat_slow_tallies->total_ns[class], duration_ns);
	if (unlikely(duration_ns > this_cpu_read(pfstat_slow_tallies->max_ns[class])))
		this_cpu_write(pfstat_slow_tallies->max_ns[class], duration_ns);
	this_cpu_inc(pfstat_slow_tallies->histogram[class][bucket]);
	this_cpu_inc(pfstat_slow_tallies->op[op]);
	if (retried)
		this_cpu_inc(pfstat_slow_tallies->retried);
}

#endif
