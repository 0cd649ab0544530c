/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time quantiles from a log-linear histogram, in bounded memory.
 *
 * Below 2048 ns every nanosecond has its own bucket. Above, every power of two is cut into 1024
 * equally wide buckets, so a bucket is narrower than 0.1 % of the times in it. All 64 bits are
 * covered. A power of two uses memory (8 KiB) only after a time falls into it.
 */
#ifndef PFSTAT_USER_QUANTILE_H
#define PFSTAT_USER_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTILE_RANGES 55 /* [0, 2^10), [2^10, 2^11), … [2^63, 2^64) */

/* All zero is an empty histogram. */
struct quantiles {
	uint64_t *ranges[QUANTILE_RANGES];
	uint64_t count;
	uint64_t max_ns; /* exact */
};

void quantile_exit(struct quantiles *quantiles);

/* Returns 0, or -ENOMEM if there is no memory for a new range. Then nothing is counted. */
int quantile_add(struct quantiles *quantiles, uint64_t ns);

/* Adds ns this many times. */
int quantile_add_many(struct quantiles *quantiles, uint64_t ns, uint64_t times);

/*
 * The quantile over all times in `nr` histograms together, by nearest rank: among n sorted times
 * the one with rank ceil(per_10000 / 10000 * n), counted from 1. Returns the bucket's upper edge,
 * but never more than the greatest time, so the result is 0 to 0.1 % too high. Returns 0 if n is 0.
 */
uint64_t quantile_of(const struct quantiles *const *several, size_t nr, unsigned int per_10000);
/* The same with 0 added `zeros` times more. */
uint64_t quantile_with_zeros(const struct quantiles *const *several, size_t nr, uint64_t zeros,
			     unsigned int per_10000);

/* The times from low_ns to high_ns, both included. Below 2048 ns it is one time. */
struct quantile_bucket {
	uint64_t low_ns, high_ns;
	uint64_t count;
};

/*
 * Finds the next bucket that is not empty, in ascending order. *cursor is 0 before the first
 * call, and belongs to this function from then on. False: no more buckets.
 */
bool quantile_next(const struct quantiles *quantiles, unsigned int *cursor,
		   struct quantile_bucket *bucket);

#endif
