/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics for a few runs of the same operation. No I/O, no clock. */
#ifndef PFSTAT_USER_STATISTICS_H
#define PFSTAT_USER_STATISTICS_H

#include <stddef.h>

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

#endif
