/* SPDX-License-Identifier: GPL-2.0-only */
/* What a handful of runs of the same operation says about it. No I/O, no clock. */
#ifndef PFSTAT_USER_STATISTICS_H
#define PFSTAT_USER_STATISTICS_H

#include <stddef.h>

struct statistics {
	size_t runs;
	size_t outliers; /* beyond Tukey's fences; they stay in all other figures */
	double mean;
	double stddev;	   /* of a sample (N - 1); NAN for a single run */
	double half_width; /* of the 95 % confidence interval of the mean; NAN likewise */
	double median, min, max;
};

/* Of at least one value. -ENOMEM. */
int statistics_of(struct statistics *statistics, const double *values, size_t nr);

/*
 * The p quantile (0.5 <= p < 1) of Student's t distribution with that many degrees of
 * freedom, from the finite sums of M. Abramowitz, I. A. Stegun, Handbook of Mathematical
 * Functions (1964), 26.7.3 and 26.7.4, which are exact for whole numbers.
 */
double student_quantile(double p, unsigned int freedom);

#endif
