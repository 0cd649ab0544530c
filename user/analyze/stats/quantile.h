/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quantiles of times from a log-linear histogram, in bounded memory.
 *
 * Below 2048 ns every nanosecond has its own bucket; above, every power of two
 * is cut into 1024 buckets of equal width, so that a bucket is narrower than
 * 0.1 % of what it holds. All of 64 bits is covered. A power of two takes
 * memory (8 KiB) only once a time falls into it.
 */
#ifndef PFSTAT_USER_QUANTILE_H
#define PFSTAT_USER_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTILE_RANGES 55 /* [0, 2^10), [2^10, 2^11), … [2^63, 2^64) */

/* All zero is an empty one. */
struct quantiles {
	uint64_t *ranges[QUANTILE_RANGES];
	uint64_t count;
	uint64_t max_ns; /* exact */
};

void quantile_exit(struct quantiles *quantiles);

/* -ENOMEM when a new range finds no memory (nothing is counted then), else 0. */
int quantile_add(struct quantiles *quantiles, uint64_t ns);

/* As if ns had been added that many times. */
int quantile_add_many(struct quantiles *quantiles, uint64_t ns, uint64_t times);

/*
 * The quantile of all times of `nr` histograms taken together, by nearest rank:
 * of n sorted times the one of rank ceil(per_mille / 1000 * n), the first rank
 * being 1. Returned is the upper edge of the bucket that holds it, but never
 * more than the greatest time: from 0 to 0.1 % too much. 0 when n is 0.
 */
uint64_t quantile_of(const struct quantiles *const *several, size_t nr, unsigned int per_mille);
/* As if 0 had been added so many times more. */
uint64_t quantile_with_zeros(const struct quantiles *const *several, size_t nr, uint64_t zeros,
			     unsigned int per_mille);

/* The times from low_ns to high_ns, both included: one time below 2048 ns. */
struct quantile_bucket {
	uint64_t low_ns, high_ns;
	uint64_t count;
};

/*
 * The next bucket that holds something, from the lowest up: *cursor is 0 before the
 * first, and belongs to this function from then on. False: no more.
 */
bool quantile_next(const struct quantiles *quantiles, unsigned int *cursor,
		   struct quantile_bucket *bucket);

#endif
