/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processor counter values for the access loop. Pure. collect/hardware.c reads the counters.
 * perf_event_open(2) shares few counters among many events, and reports each group's enabled time
 * and running time.
 */
#ifndef PFSTAT_USER_HW_COUNTS_H
#define PFSTAT_USER_HW_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hw_cache { HW_L1D, HW_DTLB, HW_NR_CACHES };
enum hw_op { HW_READ, HW_WRITE, HW_PREFETCH, HW_NR_OPS };
enum hw_result { HW_ACCESS, HW_MISS, HW_NR_RESULTS };

#define HW_CACHE_NAMES	{ "L1D", "dTLB" }
#define HW_OP_NAMES	{ "read", "write", "prefetch" }
#define HW_RESULT_NAMES { "accesses", "misses" }

/* Words returned by read(2) on a group: the group size, two times, and one value per member. */
#define HW_GROUP_WORDS (3 + HW_NR_RESULTS)

struct hw_count {
	char missing[128]; /* the reason, one clause, or "" if it is available */
	uint64_t raw;	   /* count during running_ns */
	uint64_t value;	   /* scaled to enabled_ns */
	uint64_t enabled_ns, running_ns;
};

struct hw_counts {
	struct hw_count counts[HW_NR_CACHES][HW_NR_OPS][HW_NR_RESULTS];
	uint64_t l1d_bytes;    /* 0: not known */
	uint64_t walked_bytes; /* bytes read before the loop, to evict loop data from L1D */
};

/*
 * Decodes a read(2) result from a group whose read_format is GROUP with both times.
 * @members: destinations, in the order in which the members were opened.
 * Returns 0, or -EPROTO without changing a member if the words do not fit.
 */
int hw_counts_take(const uint64_t *words, size_t nr_words, struct hw_count **members,
		   size_t nr_members);

/* Returns raw * enabled / running, rounded. running must not be 0. */
uint64_t hw_count_scale(uint64_t raw, uint64_t enabled_ns, uint64_t running_ns);

/* From 0 to 1. NAN: not available. */
double hw_counts_miss_rate(const struct hw_counts *counts, enum hw_cache cache, enum hw_op op);
double hw_count_share(const struct hw_count *count);

/* Returns the reason if it is the same for all counts, else NULL. */
const char *hw_counts_all_missing(const struct hw_counts *counts);

#endif
