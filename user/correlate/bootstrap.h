/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the difference of two runs can be trusted: percentile intervals of
 * the bootstrap (B. Efron, "Bootstrap Methods: Another Look at the Jackknife", The
 * Annals of Statistics 7(1), 1979), with Poisson weights, so that a histogram is
 * enough (J. A. Hanley, B. MacGibbon, "Creating non-parametric bootstrap samples
 * using Poisson frequencies", Computer Methods and Programs in Biomedicine 83(1), 2006;
 * N. Chamandy et al., "Estimating Uncertainty for Massive Data Streams", Google, 2012):
 * each replicate gives every time a weight of its own, Poisson of mean 1, which for
 * `count` equal times is Poisson of mean `count`.
 *
 * It takes the times of a run as independent of each other. Faults are not quite:
 * they come in bursts, neighbours wait for the same device. What is dependent
 * varies more from run to run than it shows within one, so the intervals are too
 * narrow for bursty runs, by a factor of up to the square root of a burst's length.
 */
#ifndef PFSTAT_USER_BOOTSTRAP_H
#define PFSTAT_USER_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quantile.h"

/* Of fewer than that nothing is said: a few equal times would look certain. */
#define BOOTSTRAP_FEW 10

struct bootstrap {
	double confidence;	/* of each interval, between 0 and 1 */
	unsigned int replicates;
	uint64_t seed;		/* equal seeds, equal intervals */
};

/* Times of one run: all of `nr` histograms taken together. */
struct bootstrap_times {
	const struct quantiles *const *several;
	size_t nr;
	uint64_t total_ns;	/* exact, where histograms round */
};

/* Relative: 0.1 is 10 % more. INFINITY: more than 0. */
struct bootstrap_interval {
	double difference;	/* of the runs themselves */
	double low, high;	/* of the replicates */
};

/* b / a - 1; 0 when they are equal. */
double bootstrap_relative(double a, double b);

uint64_t bootstrap_count(const struct bootstrap_times *times);
/* NAN: of none. */
double bootstrap_mean(const struct bootstrap_times *times);

/* Of the means of at least one time each. 0 or -ENOMEM. */
int bootstrap_means(const struct bootstrap *how, const struct bootstrap_times *a,
		    const struct bootstrap_times *b, struct bootstrap_interval *interval);
/* Of two counts, each taken as Poisson. 0 or -ENOMEM. */
int bootstrap_counts(const struct bootstrap *how, uint64_t a, uint64_t b,
		     struct bootstrap_interval *interval);

#endif
