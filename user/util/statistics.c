// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a few runs, and quantiles of many times. Pure: values come from the caller, without
 * I/O or clock.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/statistics.h"

/* Descriptive statistics of a few runs. Outliers are counted but never removed. */

#define CONFIDENCE 0.95
#define TRIMMED	   0.2 /* on each side */
#define FENCE	   1.5 /* J. W. Tukey, Exploratory Data Analysis (1977): quartiles and 1.5 times */

/* The handbook's A(t|n): the probability for -t … t. */
static double student_within(double t, unsigned int freedom)
{
	const double angle = atan(t / sqrt(freedom)), cosine = cos(angle);
	const bool odd = freedom % 2;
	double term = odd ? cosine : 1, sum = 0;
	unsigned int i;

	if (freedom == 1)
		return 2 * angle / M_PI;
	/*
	 * If odd: cos, 2/3 cos^3, … up to the power n - 2. If even: 1, 1/2 cos^2, … up to the same
	 * power.
	 */
	for (i = odd ? 1 : 0; i <= freedom - 2; i += 2) {
		sum += term;
		term *= cosine * cosine * (i + 1) / (i + 2);
	}
	sum *= sin(angle);
	return odd ? 2 / M_PI * (angle + sum) : sum;
}

double student_quantile(double p, unsigned int freedom)
{
	double low = 0, high = 1, middle;
	int i;

	while ((1 + student_within(high, freedom)) / 2 < p)
		high *= 2;
	for (i = 0; i < 100; i++) {
		middle = (low + high) / 2;
		if ((1 + student_within(middle, freedom)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static int ascending(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* Interpolates linearly between the two nearest sorted values. */
static double statistics_quantile(const double *sorted, size_t nr, double p)
{
	const double place = p * (nr - 1);
	const size_t below = place;

	if (below + 1 >= nr)
		return sorted[nr - 1];
	return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

static void fill_order(struct statistics *statistics, const double *sorted, size_t nr)
{
	const double lower = statistics_quantile(sorted, nr, 0.25);
	const double upper = statistics_quantile(sorted, nr, 0.75);
	const double fence = FENCE * (upper - lower);
	size_t i;

	statistics->median = statistics_quantile(sorted, nr, 0.5);
	statistics->min = sorted[0];
	statistics->max = sorted[nr - 1];
	for (i = 0; i < nr; i++)
		statistics->outliers += sorted[i] < lower - fence || sorted[i] > upper + fence;
}

static void fill_spread(struct statistics *statistics, const double *values, size_t nr)
{
	double squares = 0;
	size_t i;

	statistics->stddev = NAN;
	statistics->half_width = NAN;
	if (nr < 2)
		return;
	for (i = 0; i < nr; i++)
		squares += (values[i] - statistics->mean) * (values[i] - statistics->mean);
	statistics->stddev = sqrt(squares / (nr - 1));
	statistics->half_width =
		student_quantile((1 + CONFIDENCE) / 2, nr - 1) * statistics->stddev / sqrt(nr);
}

int statistics_of(struct statistics *statistics, const double *values, size_t nr)
{
	double *sorted = malloc(nr * sizeof(*sorted));
	double sum = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	*statistics = (struct statistics){ .runs = nr };
	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), ascending);
	for (i = 0; i < nr; i++)
		sum += values[i];
	statistics->mean = sum / nr;
	fill_order(statistics, sorted, nr);
	fill_spread(statistics, values, nr);
	free(sorted);
	return 0;
}

/*
 * Squared distances from the mean, if the @cut values at either end are replaced by their nearest
 * neighbours.
 */
static double winsorized_squares(const double *sorted, size_t nr, size_t cut)
{
	double sum = 0, squares = 0, value;
	size_t i, place;

	for (i = 0; i < nr; i++) {
		place = i < cut ? cut : i >= nr - cut ? nr - cut - 1 : i;
		sum += sorted[place];
	}
	for (i = 0; i < nr; i++) {
		place = i < cut ? cut : i >= nr - cut ? nr - cut - 1 : i;
		value = sorted[place] - sum / nr;
		squares += value * value;
	}
	return squares;
}

int statistics_trimmed(struct trimmed_mean *trimmed, const double *values, size_t nr)
{
	const size_t cut = TRIMMED * nr, kept = nr - 2 * cut;
	double *sorted = malloc(nr * sizeof(*sorted));
	double sum = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), ascending);
	for (i = cut; i < nr - cut; i++)
		sum += sorted[i];
	*trimmed = (struct trimmed_mean){ .mean = sum / kept,
					  .standard_error = NAN,
					  .freedom = kept - 1 };
	if (kept > 1)
		trimmed->standard_error =
			sqrt(winsorized_squares(sorted, nr, cut) / (kept * (kept - 1)));
	free(sorted);
	return 0;
}

/*
 * A log-linear histogram of times, with quantiles. The analysis adds times, and the reports read
 * quantiles. The sum over all buckets is always `count`.
 */

#define RANGE_BITS 10
#define RANGE_SIZE (1U << RANGE_BITS) /* number of buckets */

struct quantile_place {
	unsigned int range, bucket;
};

static struct quantile_place quantile_place_of(uint64_t ns)
{
	unsigned int exponent;

	if (ns < RANGE_SIZE)
		return (struct quantile_place){ 0, ns };
	exponent = 63 - __builtin_clzll(ns);
	return (struct quantile_place){
		.range = exponent - RANGE_BITS + 1,
		.bucket = (ns >> (exponent - RANGE_BITS)) - RANGE_SIZE,
	};
}

/* The greatest time in the bucket. The last edge wraps to 2^64 - 1. */
static uint64_t upper_edge(struct quantile_place place)
{
	if (place.range == 0)
		return place.bucket;
	return (((uint64_t)RANGE_SIZE + place.bucket + 1) << (place.range - 1)) - 1;
}

/* The least time in the bucket. */
static uint64_t lower_edge(struct quantile_place place)
{
	if (place.range == 0)
		return place.bucket;
	return ((uint64_t)RANGE_SIZE + place.bucket) << (place.range - 1);
}

void quantile_exit(struct quantiles *quantiles)
{
	unsigned int i;

	for (i = 0; i < QUANTILE_RANGES; i++) {
		free(quantiles->ranges[i]);
		quantiles->ranges[i] = NULL;
	}
	quantiles->count = 0;
	quantiles->max_ns = 0;
}

int quantile_add(struct quantiles *quantiles, uint64_t ns)
{
	return quantile_add_many(quantiles, ns, 1);
}

int quantile_add_many(struct quantiles *quantiles, uint64_t ns, uint64_t times)
{
	struct quantile_place place = quantile_place_of(ns);
	uint64_t **range = &quantiles->ranges[place.range];

	if (!*range) {
		*range = calloc(RANGE_SIZE, sizeof(**range));
		if (!*range)
			return -ENOMEM;
	}
	(*range)[place.bucket] += times;
	quantiles->count += times;
	if (ns > quantiles->max_ns)
		quantiles->max_ns = ns;
	return 0;
}

static uint64_t count_at(const struct quantiles *const *several, size_t nr,
			 struct quantile_place place)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		if (several[i]->ranges[place.range])
			count += several[i]->ranges[place.range][place.bucket];
	return count;
}

static uint64_t rank_of(uint64_t count, unsigned int per_10000)
{
	/* 128 bits: the product must not overflow. */
	uint64_t rank = ((__uint128_t)count * per_10000 + 9999) / 10000;

	return rank ? rank : 1;
}

uint64_t quantile_of(const struct quantiles *const *several, size_t nr, unsigned int per_10000)
{
	return quantile_with_zeros(several, nr, 0, per_10000);
}

uint64_t quantile_with_zeros(const struct quantiles *const *several, size_t nr, uint64_t zeros,
			     unsigned int per_10000)
{
	uint64_t count = zeros, max_ns = 0, below = zeros, rank, edge;
	struct quantile_place place;
	size_t i;

	for (i = 0; i < nr; i++) {
		count += several[i]->count;
		if (several[i]->max_ns > max_ns)
			max_ns = several[i]->max_ns;
	}
	if (!count)
		return 0;

	rank = rank_of(count, per_10000);
	if (rank <= zeros)
		return 0;
	for (place.range = 0; place.range < QUANTILE_RANGES; place.range++) {
		for (place.bucket = 0; place.bucket < RANGE_SIZE; place.bucket++) {
			below += count_at(several, nr, place);
			if (below < rank)
				continue;
			edge = upper_edge(place);
			return edge < max_ns ? edge : max_ns;
		}
	}
	return max_ns;
}

bool quantile_next(const struct quantiles *quantiles, unsigned int *cursor,
		   struct quantile_bucket *bucket)
{
	struct quantile_place place;
	const uint64_t *range;

	while (*cursor < QUANTILE_RANGES * RANGE_SIZE) {
		place = (struct quantile_place){ *cursor / RANGE_SIZE, *cursor % RANGE_SIZE };
		range = quantiles->ranges[place.range];
		if (!range) {
			*cursor = (place.range + 1) * RANGE_SIZE;
			continue;
		}
		(*cursor)++;
		if (!range[place.bucket])
			continue;
		bucket->low_ns = lower_edge(place);
		bucket->high_ns = upper_edge(place);
		bucket->count = range[place.bucket];
		return true;
	}
	return false;
}
