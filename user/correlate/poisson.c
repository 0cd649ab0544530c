// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "poisson.h"

#define INVERSION_BELOW 12.0	/* the rejection's constants hold from a mean of 10 up */

struct poisson poisson_begin(double mean)
{
	struct poisson poisson = { .mean = mean };

	if (mean < INVERSION_BELOW) {
		poisson.zero = exp(-mean);
		return poisson;
	}
	poisson.b = 0.931 + 2.53 * sqrt(mean);
	poisson.a = -0.059 + 0.02483 * poisson.b;
	poisson.log_mean = log(mean);
	poisson.log_scale = log(1.1239 + 1.1328 / (poisson.b - 3.4));
	poisson.accept = 0.9277 - 3.6224 / (poisson.b - 2);
	return poisson;
}

/* 53 random bits, in [0, 1). */
static double uniform(struct random *random)
{
	return ldexp(random_u64(random) >> 11, -53);
}

static uint64_t draw_by_inversion(const struct poisson *poisson, struct random *random)
{
	double left = uniform(random), probability = poisson->zero;
	uint64_t number = 0;

	/* What rounding leaves over ends it: a probability that is gone adds nothing. */
	while (left >= probability && probability > 0) {
		left -= probability;
		probability *= poisson->mean / ++number;
	}
	return number;
}

static uint64_t draw_by_rejection(const struct poisson *poisson, struct random *random)
{
	double u, v, us, number;
	int sign;

	for (;;) {
		u = uniform(random) - 0.5;
		v = uniform(random);
		us = 0.5 - fabs(u);
		number = floor((2 * poisson->a / us + poisson->b) * u + poisson->mean + 0.43);
		if (us >= 0.07 && v <= poisson->accept)
			return number;
		if (number < 0 || (us < 0.013 && v > us))
			continue;
		if (log(v) + poisson->log_scale - log(poisson->a / (us * us) + poisson->b) <=
		    number * poisson->log_mean - poisson->mean - lgamma_r(number + 1, &sign))
			return number;
	}
}

uint64_t poisson_draw(const struct poisson *poisson, struct random *random)
{
	if (poisson->mean < INVERSION_BELOW)
		return draw_by_inversion(poisson, random);
	return draw_by_rejection(poisson, random);
}
