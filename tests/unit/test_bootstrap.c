// SPDX-License-Identifier: GPL-2.0-only
/* Do the intervals hold what they promise? On runs whose truth is known. */
#include <math.h>

#include "random.h"
#include "runner.h"
#include "user/correlate/bootstrap.h"
#include "user/correlate/poisson.h"

#define PAIRS 200
#define TINY 0.000000001

static const struct bootstrap how = { .confidence = 0.95, .replicates = 1000, .seed = 1 };

struct run {
	struct quantiles histogram;
	const struct quantiles *several[1];
	struct bootstrap_times times;
};

static void run_open(struct run *run)
{
	*run = (struct run){ 0 };
	run->several[0] = &run->histogram;
	run->times.several = run->several;
	run->times.nr = 1;
}

static void put(struct run *run, uint64_t ns)
{
	ck_assert_int_eq(quantile_add(&run->histogram, ns), 0);
	run->times.total_ns += ns;
}

static double uniform(uint64_t *state)
{
	return ldexp((random_next(state) >> 11) + 0.5, -53);
}

/* A long tail, as faults have: 20 µs and, on top, exponential with a mean of 100 µs. */
static void run_fill(struct run *run, size_t nr, double stretch, uint64_t *state)
{
	run_open(run);
	while (nr--)
		put(run, stretch * (20000 - 100000 * log(uniform(state))));
}

static struct bootstrap_interval interval_of(const struct run *a, const struct run *b)
{
	struct bootstrap_interval interval;

	ck_assert_int_eq(bootstrap_means(&how, &a->times, &b->times, &interval), 0);
	return interval;
}

static bool excludes(const struct bootstrap_interval *interval, double truth)
{
	return truth < interval->low || truth > interval->high;
}

/* Of PAIRS pairs of runs, b's times being a's stretched: whose interval misses that. */
static unsigned int nr_missed(size_t nr, double stretch, uint64_t seed)
{
	struct bootstrap_interval interval;
	unsigned int pair, missed = 0;
	struct run a, b;

	for (pair = 0; pair < PAIRS; pair++) {
		run_fill(&a, nr, 1, &seed);
		run_fill(&b, nr, stretch, &seed);
		interval = interval_of(&a, &b);
		missed += excludes(&interval, stretch - 1);
		quantile_exit(&a.histogram);
		quantile_exit(&b.histogram);
	}
	return missed;
}

/* 10 of 200 are expected; fewer than 3 or more than 18 have a probability of 1 %. */
START_TEST(test_interval_of_equal_runs_misses_zero_as_often_as_it_says)
{
	unsigned int missed = nr_missed(300, 1, 11);

	ck_assert_uint_ge(missed, 3);
	ck_assert_uint_le(missed, 18);
}
END_TEST

START_TEST(test_interval_covers_a_true_difference_as_often_as_it_says)
{
	unsigned int missed = nr_missed(300, 1.2, 12);

	ck_assert_uint_ge(missed, 3);
	ck_assert_uint_le(missed, 18);
}
END_TEST

START_TEST(test_counts_of_equal_rates_differ_as_often_as_it_says)
{
	const struct poisson rate = poisson_begin(400);
	struct random random = random_begin(13, 0);
	struct bootstrap_interval interval;
	unsigned int pair, missed = 0;
	uint64_t a, b;

	for (pair = 0; pair < PAIRS; pair++) {
		a = poisson_draw(&rate, &random);
		b = poisson_draw(&rate, &random);
		ck_assert_int_eq(bootstrap_counts(&how, a, b, &interval), 0);
		missed += excludes(&interval, 0);
	}
	ck_assert_uint_ge(missed, 3);
	ck_assert_uint_le(missed, 18);
}
END_TEST

START_TEST(test_shift_of_ten_per_cent_is_found_and_its_size)
{
	struct bootstrap_interval interval;
	uint64_t state = 14;
	struct run a, b;

	/* The standard error of the relative difference is 1.2 %. */
	run_fill(&a, 10000, 1, &state);
	run_fill(&b, 10000, 1.1, &state);
	interval = interval_of(&a, &b);
	ck_assert_double_gt(interval.low, 0.05);
	ck_assert_double_lt(interval.high, 0.15);
	ck_assert_double_eq_tol(interval.high - interval.low, 2 * 1.96 * 0.0130, 0.005);
	ck_assert_double_eq_tol(interval.difference, 0.1, 0.035);
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
}
END_TEST

START_TEST(test_same_run_twice_differs_by_exactly_nothing)
{
	struct bootstrap_interval interval;
	uint64_t state = 15;
	struct run a;

	run_fill(&a, 1000, 1, &state);
	interval = interval_of(&a, &a);
	ck_assert_double_eq(interval.difference, 0);
	ck_assert(!excludes(&interval, 0));
	quantile_exit(&a.histogram);
}
END_TEST

START_TEST(test_equal_seeds_make_equal_intervals)
{
	struct bootstrap other = how;
	struct bootstrap_interval first, second;
	uint64_t state = 16;
	struct run a, b;

	run_fill(&a, 500, 1, &state);
	run_fill(&b, 500, 1, &state);
	first = interval_of(&a, &b);
	second = interval_of(&a, &b);
	ck_assert_double_eq(first.low, second.low);
	ck_assert_double_eq(first.high, second.high);
	other.seed = 2;
	ck_assert_int_eq(bootstrap_means(&other, &a.times, &b.times, &second), 0);
	ck_assert_double_ne(first.low, second.low);
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
}
END_TEST

START_TEST(test_greater_confidence_is_a_wider_interval)
{
	struct bootstrap other = how;
	struct bootstrap_interval narrow, wide;
	uint64_t state = 17;
	struct run a, b;

	run_fill(&a, 500, 1, &state);
	run_fill(&b, 500, 1, &state);
	narrow = interval_of(&a, &b);
	other.confidence = 0.99;
	ck_assert_int_eq(bootstrap_means(&other, &a.times, &b.times, &wide), 0);
	/* 2.576 / 1.960 standard errors. */
	ck_assert_double_eq_tol((wide.high - wide.low) / (narrow.high - narrow.low), 1.31, 0.12);
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
}
END_TEST

/* Buckets round, by up to 0.1 %; totals do not: what differs is the totals' difference. */
START_TEST(test_constant_times_differ_by_their_exact_difference)
{
	struct bootstrap_interval interval;
	struct run a, b;
	int i;

	run_open(&a);
	run_open(&b);
	for (i = 0; i < 100; i++) {
		put(&a, 1000000);
		put(&b, 1000700);
	}
	interval = interval_of(&a, &b);
	ck_assert_double_eq_tol(interval.difference, 0.0007, TINY);
	ck_assert_double_eq_tol(interval.low, 0.0007, TINY);
	ck_assert_double_eq_tol(interval.high, 0.0007, TINY);
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
}
END_TEST

/* One fault of a thousand that met a lock says nothing of the next thousand. */
START_TEST(test_what_occurred_once_is_not_certain)
{
	struct bootstrap_interval interval;
	struct run a, b;
	int i;

	run_open(&a);
	run_open(&b);
	for (i = 0; i < 1000; i++) {
		put(&a, 0);
		put(&b, i ? 0 : 5000);
	}
	interval = interval_of(&a, &b);
	ck_assert(isinf(interval.difference));
	ck_assert_double_eq(interval.low, 0);
	interval = interval_of(&b, &a);
	ck_assert_double_eq(interval.difference, -1);
	ck_assert_double_eq(interval.high, 0);
	for (i = 0; i < 20; i++)
		put(&b, 5000);
	interval = interval_of(&a, &b);
	ck_assert(isinf(interval.low));
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
}
END_TEST

START_TEST(test_nothing_in_both_is_no_difference)
{
	struct bootstrap_interval interval;
	struct run a;
	int i;

	run_open(&a);
	for (i = 0; i < 100; i++)
		put(&a, 0);
	interval = interval_of(&a, &a);
	ck_assert_double_eq(interval.difference, 0);
	ck_assert_double_eq(interval.low, 0);
	ck_assert_double_eq(interval.high, 0);
	quantile_exit(&a.histogram);
}
END_TEST

/* Thinned or not, the interval's width is that of 1.96 standard errors to each side. */
static void check_width(struct run *run, size_t nr, double squares)
{
	const double mean = bootstrap_mean(&run->times);
	/* Of the ratio of two such means. */
	const double error = sqrt(2 * (squares / nr - mean * mean) / nr) / mean;
	const struct bootstrap_interval interval = interval_of(run, run);

	ck_assert_double_eq_tol(mean, (double)run->times.total_ns / nr, 1000 * TINY);
	ck_assert_double_eq_tol((interval.high - interval.low) / (2 * 1.96 * error), 1, 0.1);
	quantile_exit(&run->histogram);
}

START_TEST(test_times_of_all_magnitudes_keep_their_spread)
{
	uint64_t state = 18, ns;
	double squares = 0;
	struct run run;
	size_t i;

	run_open(&run);
	for (i = 0; i < 20000; i++) {
		ns = exp(20 * uniform(&state));
		put(&run, ns);
		squares += (double)ns * ns;
	}
	check_width(&run, 20000, squares);
}
END_TEST

START_TEST(test_times_of_one_magnitude_in_many_buckets_keep_their_spread)
{
	double squares = 0;
	struct run run;
	uint64_t ns;
	size_t i;

	run_open(&run);
	for (i = 0; i < 20000; i++) {
		ns = 1100000 + 40 * i;
		put(&run, ns);
		squares += (double)ns * ns;
	}
	check_width(&run, 20000, squares);
}
END_TEST

START_TEST(test_several_histograms_are_one_run)
{
	struct bootstrap_interval one, two;
	struct run a, b, halves[2];
	struct bootstrap_times both;
	const struct quantiles *several[2] = { &halves[0].histogram, &halves[1].histogram };
	uint64_t state = 19;
	int i;

	run_fill(&a, 1000, 1, &state);
	run_open(&b);
	run_open(&halves[0]);
	run_open(&halves[1]);
	for (i = 0; i < 1000; i++) {
		put(&b, i < 500 ? 1000 + i : 90000 + i);
		put(&halves[i >= 500], i < 500 ? 1000 + i : 90000 + i);
	}
	both = (struct bootstrap_times){ several, 2, b.times.total_ns };
	ck_assert_uint_eq(bootstrap_count(&both), 1000);
	one = interval_of(&a, &b);
	ck_assert_int_eq(bootstrap_means(&how, &a.times, &both, &two), 0);
	ck_assert_double_eq(one.difference, two.difference);
	ck_assert_double_eq(one.low, two.low);
	ck_assert_double_eq(one.high, two.high);
	quantile_exit(&a.histogram);
	quantile_exit(&b.histogram);
	quantile_exit(&halves[0].histogram);
	quantile_exit(&halves[1].histogram);
}
END_TEST

START_TEST(test_count_that_was_none_is_more_than_any_percentage)
{
	struct bootstrap_interval interval;

	ck_assert_int_eq(bootstrap_counts(&how, 0, 50, &interval), 0);
	ck_assert(isinf(interval.difference));
	ck_assert(isinf(interval.low));
	ck_assert_int_eq(bootstrap_counts(&how, 50, 0, &interval), 0);
	ck_assert_double_eq(interval.difference, -1);
	ck_assert_double_eq(interval.high, -1);
}
END_TEST

/* Mean and variance are both the mean; five standard errors are allowed. */
static void check_poisson(double mean, uint64_t seed)
{
	enum { DRAWS = 200000 };
	const struct poisson poisson = poisson_begin(mean);
	struct random random = random_begin(seed, 0);
	double sum = 0, squares = 0, cubes = 0, d;
	int i;

	for (i = 0; i < DRAWS; i++) {
		d = poisson_draw(&poisson, &random) - mean;
		sum += d;
		squares += d * d;
		cubes += d * d * d;
	}
	ck_assert_double_eq_tol(sum / DRAWS, 0, 5 * sqrt(mean / DRAWS));
	ck_assert_double_eq_tol(squares / DRAWS, mean,
				5 * sqrt((mean + 2 * mean * mean) / DRAWS));
	/* The third central moment is the mean as well: a normal one has 0. */
	ck_assert_double_eq_tol(cubes / DRAWS, mean,
				5 * sqrt((15 * mean * mean * mean + 25 * mean * mean + mean) /
					 DRAWS));
}

START_TEST(test_poisson_has_the_moments_of_its_kind)
{
	static const double means[] = { 0.5, 1, 5, 11.9, 12, 13, 40, 1000, 1e6 };
	size_t i;

	for (i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		check_poisson(means[i], i + 1);
}
END_TEST

START_TEST(test_poisson_of_mean_zero_is_zero)
{
	const struct poisson poisson = poisson_begin(0);
	struct random random = random_begin(1, 0);
	int i;

	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(poisson_draw(&poisson, &random), 0);
}
END_TEST

RUN_TESTS("bootstrap",
	  test_interval_of_equal_runs_misses_zero_as_often_as_it_says,
	  test_interval_covers_a_true_difference_as_often_as_it_says,
	  test_counts_of_equal_rates_differ_as_often_as_it_says,
	  test_shift_of_ten_per_cent_is_found_and_its_size,
	  test_same_run_twice_differs_by_exactly_nothing,
	  test_equal_seeds_make_equal_intervals,
	  test_greater_confidence_is_a_wider_interval,
	  test_constant_times_differ_by_their_exact_difference,
	  test_what_occurred_once_is_not_certain,
	  test_nothing_in_both_is_no_difference,
	  test_times_of_all_magnitudes_keep_their_spread,
	  test_times_of_one_magnitude_in_many_buckets_keep_their_spread,
	  test_several_histograms_are_one_run,
	  test_count_that_was_none_is_more_than_any_percentage,
	  test_poisson_has_the_moments_of_its_kind,
	  test_poisson_of_mean_zero_is_zero)
