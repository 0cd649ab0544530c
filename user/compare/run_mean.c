// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes single-run estimates from batches.c, and gives comparison.c the interval for the ratio
 * between two sides. The interval and the difference test always agree.
 */
#include <math.h>

#include "compare/run_mean.h"
#include "util/statistics.h"

/* Ratios beyond a million are printed as infinite, or as 0. */
#define RATIO_MAX   1e6
#define FREEDOM_MAX 200
#define STEPS	    60

struct run_mean run_mean_of(const struct estimate *runs, size_t nr)
{
	struct run_mean mean = { .value = 0 };
	double grains = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (isnan(runs[i].value))
			continue;
		mean.nr++;
		mean.value += runs[i].value;
		grains += runs[i].grain;
		mean.one = runs[i];
	}
	if (!mean.nr) {
		mean.value = NAN;
		return mean;
	}
	mean.value /= mean.nr;
	mean.grain = grains / mean.nr;
	for (i = 0; i < nr && mean.value > 0; i++)
		if (!isnan(runs[i].value))
			mean.squares += pow(runs[i].value / mean.value - 1, 2);
	return mean;
}

size_t run_mean_freedom(const struct run_mean *a, const struct run_mean *b)
{
	return a->nr && b->nr ? a->nr + b->nr - 2 : 0;
}

/* The relative variances in a comparison, each multiplied by the square of Student's quantile. */
struct ratio_noise {
	double between; /* for the ratio, by the factors between runs */
	double of_a, of_b;
};

/*
 * The permitted distance, on the logarithmic scale, of a ratio from the measured one. The noise is
 * fixed for the side staying in place, and moves with the other side. On the way from 1 to exp(-x),
 * a factor between runs counts as on the logarithmic scale, grains as absolute.
 */
static double ratio_reach(double fixed, double moved, double between)
{
	double low = 0, high = log(RATIO_MAX), x, step, excess = -1;
	int i;

	for (i = 0; i <= STEPS; i++) {
		x = i ? (low + high) / 2 : high;
		step = -expm1(-x);
		excess = step * step - fixed - moved * exp(-2 * x) - between * pow(step / x, 2);
		if (!i && excess <= 0)
			return INFINITY;
		if (excess > 0)
			high = x;
		else
			low = x;
	}
	return high;
}

/* None at all counts as half a fault in all runs together. */
static double positive_of(const struct run_mean *mean, double grain)
{
	return fmax(mean->value, grain / 2 / mean->nr);
}

static double grain_variance(const struct run_mean *mean, double grain)
{
	return pow(grain / positive_of(mean, grain), 2) / mean->nr;
}

static struct ratio_noise ratio_noise_of(const struct run_mean *a, const struct run_mean *b,
					 double grain_a, double grain_b, double confidence)
{
	const size_t freedom = run_mean_freedom(a, b);
	const double t = student_quantile((1 + confidence) / 2,
					  freedom < FREEDOM_MAX ? freedom : FREEDOM_MAX);

	return (struct ratio_noise){
		.between =
			t * t * (a->squares + b->squares) / freedom * (1.0 / a->nr + 1.0 / b->nr),
		.of_a = t * t * grain_variance(a, grain_a),
		.of_b = t * t * grain_variance(b, grain_b),
	};
}

static struct interval interval_of_runs(const struct run_mean *a, const struct run_mean *b,
					double confidence)
{
	/* A side with value 0 has no separate grain. */
	const double grain_a = a->value > 0 ? a->grain : b->grain;
	const double grain_b = b->value > 0 ? b->grain : a->grain;
	const struct ratio_noise noise = ratio_noise_of(a, b, grain_a, grain_b, confidence);
	const double ratio = positive_of(b, grain_b) / positive_of(a, grain_a);
	struct interval interval = {
		.difference = batches_interval_relative(a->value, b->value),
		.low = ratio * exp(-ratio_reach(noise.of_b, noise.of_a, noise.between)) - 1,
		.high = ratio * exp(ratio_reach(noise.of_a, noise.of_b, noise.between)) - 1,
	};

	if (!(b->value > 0))
		interval.low = -1;
	if (!(a->value > 0)) {
		interval.low = interval.low > 0 ? INFINITY : -1;
		interval.high = INFINITY;
	}
	return interval;
}

struct interval run_mean_interval(const struct run_mean *a, const struct run_mean *b,
				  double confidence)
{
	if (!run_mean_freedom(a, b))
		return batches_interval(&a->one, &b->one, confidence);
	if (!(a->value > 0) && !(b->value > 0))
		return (struct interval){ 0 };
	return interval_of_runs(a, b, confidence);
}
