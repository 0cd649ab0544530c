// SPDX-License-Identifier: GPL-2.0-only
/* Histogram quantiles, compared with quantiles from the sorted times. */
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/class_faults.h"
#include "user/util/array.h"
#include "user/util/statistics.h"

#define MAX_TIMES 20000

struct sample {
	uint64_t times[MAX_TIMES];
	size_t nr;
};

static void put(struct sample *sample, uint64_t ns)
{
	ck_assert_uint_lt(sample->nr, MAX_TIMES);
	sample->times[sample->nr++] = ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The definition of quantile_of(), applied to the sorted times. */
static uint64_t exact(const struct sample *sorted, unsigned int per_10000)
{
	size_t rank = (sorted->nr * per_10000 + 9999) / 10000;

	return sorted->times[rank ? rank - 1 : 0];
}

static void fill(struct quantiles *quantiles, const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->nr; i++)
		ck_assert_int_eq(quantile_add(quantiles, sample->times[i]), 0);
}

/* Never below the exact quantile, above it by less than 0.1 %, equal to it below 2048 ns. */
static void check_against_sorted(struct sample *sample)
{
	struct quantiles quantiles = { 0 };
	const struct quantiles *one = &quantiles;
	uint64_t right, found;
	unsigned int per_10000;

	fill(&quantiles, sample);
	qsort(sample->times, sample->nr, sizeof(sample->times[0]), compare);
	for (per_10000 = 0; per_10000 <= 10000; per_10000++) {
		right = exact(sample, per_10000);
		found = quantile_of(&one, 1, per_10000);
		ck_assert_uint_ge(found, right);
		if (right < 2048)
			ck_assert_uint_eq(found, right);
		else
			ck_assert_double_lt((double)(found - right) / right, 0.001);
	}
	ck_assert_uint_eq(quantile_of(&one, 1, 10000), sample->times[sample->nr - 1]);
	ck_assert_uint_eq(quantiles.max_ns, sample->times[sample->nr - 1]);
	quantile_exit(&quantiles);
}

TEST(test_every_nanosecond_below_2048_is_exact)
{
	static struct sample sample;
	uint64_t i;

	for (i = 0; i < 2048; i++)
		put(&sample, i * 1021 % 2048); /* each value once, shuffled */
	check_against_sorted(&sample);
}

TEST(test_quantiles_near_powers_of_two_are_within_tolerance)
{
	static struct sample sample;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		put(&sample, (1ULL << bit) - 1);
		put(&sample, 1ULL << bit);
		put(&sample, (1ULL << bit) + 1);
	}
	check_against_sorted(&sample);
}

TEST(test_edges_of_buckets_have_exact_quantiles)
{
	static struct sample sample;
	uint64_t bucket;

	/* Each bucket in [2^20, 2^21): the lowest and the highest time. */
	for (bucket = 0; bucket < 1024; bucket++) {
		put(&sample, (1024 + bucket) << 10);
		put(&sample, ((1024 + bucket + 1) << 10) - 1);
	}
	check_against_sorted(&sample);
}

TEST(test_quantiles_of_two_distant_modes_are_within_tolerance)
{
	static struct sample sample;
	size_t i;

	/* The study's shape, 300 ns and 150 µs, and an 18-minute time. */
	for (i = 0; i < 6000; i++) {
		put(&sample, 300);
		put(&sample, 150000 + i);
	}
	put(&sample, 1ULL << 40);
	check_against_sorted(&sample);
}

TEST(test_quantiles_over_all_magnitudes_are_within_tolerance)
{
	static struct sample sample;
	uint64_t state = 1;
	size_t i;

	for (i = 0; i < MAX_TIMES; i++)
		put(&sample, random_next(&state) >> (random_next(&state) % 64));
	check_against_sorted(&sample);
}

TEST(test_one_time_is_every_quantile)
{
	static struct sample sample;

	put(&sample, 123456789);
	check_against_sorted(&sample);
}

TEST(test_equal_times_are_never_overstated)
{
	static struct sample sample;
	struct quantiles quantiles = { 0 };
	const struct quantiles *one = &quantiles;
	size_t i;

	for (i = 0; i < 1000; i++)
		put(&sample, 1000001);
	fill(&quantiles, &sample);
	ck_assert_uint_eq(quantile_of(&one, 1, 10), 1000001);
	ck_assert_uint_eq(quantile_of(&one, 1, 9900), 1000001);
	quantile_exit(&quantiles);
}

TEST(test_few_times_use_the_nearest_rank)
{
	struct quantiles quantiles = { 0 };
	const struct quantiles *one = &quantiles;
	uint64_t ns;

	/* p50 of 10, 20, 30, 40 is the second one: ceil(0.5 * 4) = 2. */
	for (ns = 10; ns <= 40; ns += 10)
		ck_assert_int_eq(quantile_add(&quantiles, ns), 0);
	ck_assert_uint_eq(quantile_of(&one, 1, 0), 10);
	ck_assert_uint_eq(quantile_of(&one, 1, 2500), 10);
	ck_assert_uint_eq(quantile_of(&one, 1, 2510), 20);
	ck_assert_uint_eq(quantile_of(&one, 1, 5000), 20);
	ck_assert_uint_eq(quantile_of(&one, 1, 9900), 40);
	quantile_exit(&quantiles);
}

TEST(test_empty_histogram_has_quantile_zero)
{
	struct quantiles quantiles = { 0 };
	const struct quantiles *one = &quantiles;

	ck_assert_uint_eq(quantile_of(&one, 1, 5000), 0);
	ck_assert_uint_eq(quantile_of(NULL, 0, 5000), 0);
	quantile_exit(&quantiles);
}

TEST(test_merged_histograms_equal_a_single_one)
{
	static struct sample sample;
	struct quantiles whole = { 0 }, parts[3] = { 0 };
	const struct quantiles *one = &whole;
	const struct quantiles *several[] = { &parts[0], &parts[1], &parts[2] };
	uint64_t state = 2;
	unsigned int per_10000;
	size_t i;

	for (i = 0; i < 9000; i++)
		put(&sample, random_next(&state) >> (random_next(&state) % 50));
	fill(&whole, &sample);
	/* Unequal parts, and one stays empty. */
	for (i = 0; i < sample.nr; i++)
		ck_assert_int_eq(quantile_add(&parts[i % 7 ? 0 : 1], sample.times[i]), 0);
	for (per_10000 = 0; per_10000 <= 10000; per_10000++)
		ck_assert_uint_eq(quantile_of(several, 3, per_10000),
				  quantile_of(&one, 1, per_10000));
	for (i = 0; i < 3; i++)
		quantile_exit(&parts[i]);
	quantile_exit(&whole);
}

TEST(test_memory_grows_with_magnitudes_only)
{
	struct quantiles quantiles = { 0 };
	uint64_t state = 3;
	unsigned int i, used = 0;

	for (i = 0; i < 1000000; i++)
		ck_assert_int_eq(quantile_add(&quantiles, random_next(&state) & 0xfffff), 0);
	for (i = 0; i < QUANTILE_RANGES; i++)
		used += !!quantiles.ranges[i];
	/* [0, 2^10) and ten powers of two up to 2^20. */
	ck_assert_uint_eq(used, 11);
	ck_assert_uint_eq(quantiles.count, 1000000);
	quantile_exit(&quantiles);
}

/* When both are in order, each time lies in the bucket of the same index. */
TEST(test_buckets_hold_every_time_once_in_order)
{
	static struct sample sample;
	struct quantiles quantiles = { 0 };
	struct quantile_bucket bucket;
	unsigned int cursor = 0;
	uint64_t state = 4, next = 0, i;
	size_t seen = 0;

	for (i = 0; i < 5000; i++)
		put(&sample, random_next(&state) >> (random_next(&state) % 64));
	put(&sample, 0);
	put(&sample, UINT64_MAX);
	fill(&quantiles, &sample);
	qsort(sample.times, sample.nr, sizeof(sample.times[0]), compare);
	while (quantile_next(&quantiles, &cursor, &bucket)) {
		ck_assert_uint_ge(bucket.low_ns, next);
		ck_assert_uint_gt(bucket.count, 0);
		for (i = 0; i < bucket.count; i++, seen++) {
			ck_assert_uint_ge(sample.times[seen], bucket.low_ns);
			ck_assert_uint_le(sample.times[seen], bucket.high_ns);
		}
		ck_assert_uint_le(bucket.high_ns - bucket.low_ns, bucket.low_ns / 1024);
		next = bucket.high_ns + 1;
	}
	ck_assert_uint_eq(seen, sample.nr);
	ck_assert_uint_eq(bucket.high_ns, UINT64_MAX);
	ck_assert(!quantile_next(&quantiles, &cursor, &bucket));
	quantile_exit(&quantiles);
}

TEST(test_a_percentile_needs_enough_values_to_be_one)
{
	static const struct {
		uint64_t count, p999_ns, p9999_ns;
	} wanted[] = {
		{ P999_LEAST - 1, COUNT_NA, COUNT_NA }, { P999_LEAST, 999, COUNT_NA },
		{ P9999_LEAST - 1, 9990, COUNT_NA },	{ P9999_LEAST, 9990, 9999 },
		{ 2 * P9999_LEAST, 19980, 19998 },
	};
	struct quantiles one = { 0 };
	const struct quantiles *all = &one;
	struct part_figures figures = { 0 };
	uint64_t ns;
	size_t i;

	for (i = 0, ns = 1; i < ARRAY_SIZE(wanted); i++) {
		for (; ns <= wanted[i].count; ns++)
			ck_assert_int_eq(quantile_add(&one, ns), 0);
		part_figures_fill(&figures, &all, 1, wanted[i].count, 0);
		if (wanted[i].p999_ns == COUNT_NA)
			ck_assert_uint_eq(figures.p999_ns, COUNT_NA);
		else
			ck_assert_double_eq_tol(figures.p999_ns, wanted[i].p999_ns,
						wanted[i].p999_ns / 1e3);
		if (wanted[i].p9999_ns == COUNT_NA)
			ck_assert_uint_eq(figures.p9999_ns, COUNT_NA);
		else
			ck_assert_double_eq_tol(figures.p9999_ns, wanted[i].p9999_ns,
						wanted[i].p9999_ns / 1e3);
	}
	/* A part missing in half the faults. */
	part_figures_fill(&figures, &all, 1, 2 * one.count, 0);
	ck_assert_double_eq_tol(figures.p9999_ns, one.count - 4, 20);
	quantile_exit(&one);
}
