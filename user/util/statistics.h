/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of a few runs, and quantiles of many times. No I/O, no clock. */
#ifndef PFSTAT_USER_STATISTICS_H
#define PFSTAT_USER_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct statistics {
	size_t runs;
	size_t outliers; /* beyond Tukey's fences, but included in all other figures */
	double mean;
	double stddev;	   /* for a sample (N - 1), NAN for a single run */
	double half_width; /* for the mean's 95 % confidence interval, NAN for a single run */
	double median, min, max;
};

/* @nr: at least 1. Returns 0 or -ENOMEM. */
int statistics_of(struct statistics *statistics, const double *values, size_t nr);

/*
 * A mean that rare disturbances do not move. The smallest and the largest fifth of the values (a
 * fraction of a value counts as none) are discarded. The standard error comes from the winsorized
 * variance, with @freedom degrees of freedom (K. K. Yuen, The two-sample trimmed t for unequal
 * population variances, Biometrika 61, 1974). NAN and 0 for a single value.
 */
struct trimmed_mean {
	double mean;
	double standard_error;
	unsigned int freedom;
};

/* @nr: at least 1. Returns 0 or -ENOMEM. */
int statistics_trimmed(struct trimmed_mean *trimmed, const double *values, size_t nr);

/*
 * The p quantile (0.5 <= p < 1) in Student's t distribution with @freedom degrees of freedom, from
 * the finite sums in M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.3
 * and 26.7.4, which are exact for whole numbers.
 */
double student_quantile(double p, unsigned int freedom);

/*
 * Time quantiles from a log-linear histogram, in bounded memory.
 *
 * Below 2048 ns every nanosecond has its own bucket. Above, every power of two is cut into 1024
 * equally wide buckets, so a bucket is narrower than 0.1 % of the times in it. All 64 bits are
 * covered. A power of two uses memory (8 KiB) only after a time falls into it.
 */

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
