// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes single-run estimates from batches.c, and gives comparison.c the interval for the ratio
 * between two sides. The interval and the difference test always agree.
 */
#include <math.h>
#include <stdbool.h>

#include "compare/run_mean.h"
#include "util/statistics.h"

/* Ratios beyond a million are printed as infinite, or as 0. */
#define RATIO_MAX   1e6
#define FREEDOM_MAX 200
#define STEPS	    60
/* With fewer runs on a side, Welch's degrees of freedom are too many. */
#define WELCH_RUNS 5

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

/* Equal numbers of runs, or a side that shows no variation. */
static bool is_pooled(const struct run_mean *a, const struct run_mean *b)
{
	return a->nr == b->nr || a->nr == 1 || b->nr == 1;
}

static double runs_quantile(double confidence, double freedom)
{
	return student_quantile((1 + confidence) / 2, fmin(freedom, FREEDOM_MAX));
}

/* @var_a, @var_b: variances of the two means. One is above 0. */
static double separate_quantile(const struct run_mean *a, const struct run_mean *b, double var_a,
				double var_b, double confidence)
{
	const double freedom_a = a->nr - 1, freedom_b = b->nr - 1;

	if (a->nr >= WELCH_RUNS && b->nr >= WELCH_RUNS)
		return runs_quantile(confidence,
				     pow(var_a + var_b, 2) / (var_a * var_a / freedom_a +
							      var_b * var_b / freedom_b));
	return (var_a * runs_quantile(confidence, freedom_a) +
		var_b * runs_quantile(confidence, freedom_b)) /
	       (var_a + var_b);
}

static struct ratio_noise ratio_noise_of(const struct run_mean *a, const struct run_mean *b,
					 double grain_a, double grain_b, double confidence)
{
	const double of_a = grain_variance(a, grain_a), of_b = grain_variance(b, grain_b);
	const size_t freedom = run_mean_freedom(a, b);
	double between = (a->squares + b->squares) / freedom * (1.0 / a->nr + 1.0 / b->nr);
	double t = runs_quantile(confidence, freedom), var_a, var_b;

	if (!is_pooled(a, b)) {
		var_a = a->squares / (a->nr - 1) / a->nr;
		var_b = b->squares / (b->nr - 1) / b->nr;
		between = var_a + var_b;
		if (between + of_a + of_b > 0)
			t = separate_quantile(a, b, var_a + of_a, var_b + of_b, confidence);
	}
	return (struct ratio_noise){
		.between = t * t * between,
		.of_a = t * t * of_a,
		.of_b = t * t * of_b,
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
