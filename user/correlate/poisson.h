/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Poisson-distributed numbers. Below a mean of 12 by inversion, one product a step;
 * above by transformed rejection, which needs about one pair of random numbers whatever
 * the mean: W. Hörmann, "The transformed rejection method for generating Poisson random
 * variables", Insurance: Mathematics and Economics 12(1), 1993, algorithm PTRS.
 */
#ifndef PFSTAT_USER_POISSON_H
#define PFSTAT_USER_POISSON_H

#include <stdint.h>

#include "../engine/random.h"

struct poisson {
	double mean;
	double zero;		/* by inversion: the probability of 0 */
	double a, b;		/* by rejection: the hat's shape */
	double log_mean, log_scale;
	double accept;		/* below that no logarithm is needed */
};

struct poisson poisson_begin(double mean);
uint64_t poisson_draw(const struct poisson *poisson, struct random *random);

#endif
