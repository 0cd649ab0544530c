// SPDX-License-Identifier: GPL-2.0-only
/* Ratio intervals for two sides, with known figures. */
#include <math.h>

#include "runner.h"
#include "apps/compare/compare.h"
#include "user/util/statistics.h"

#define TINY	   0.000001
#define CONFIDENCE 0.95

static struct run_mean side_of(const double *values, size_t nr, double grain)
{
	struct estimate runs[8] = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		runs[i] = (struct estimate){ .value = values[i], .freedom = 1, .grain = grain };
	return run_mean_of(runs, nr);
}

#define SIDE(grain, ...)                         \
	side_of((const double[]){ __VA_ARGS__ }, \
		sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), grain)

TEST(test_mean_leaves_out_runs_without_the_figure)
{
	const struct run_mean mean = SIDE(2, 90, NAN, 110);

	ck_assert_double_eq(mean.value, 100);
	ck_assert_double_eq_tol(mean.squares, 0.02, TINY);
	ck_assert_double_eq(mean.grain, 2);
	ck_assert_uint_eq(mean.nr, 2);
	ck_assert(isnan(SIDE(1, NAN, NAN).value));
}

static void check_interval(const struct run_mean *a, const struct run_mean *b, double reach)
{
	const struct interval interval = run_mean_interval(a, b, CONFIDENCE);
	const double ratio = b->value / a->value;

	ck_assert_double_eq_tol(interval.difference, ratio - 1, TINY);
	ck_assert_double_eq_tol(interval.low, ratio * exp(-reach) - 1, TINY);
	ck_assert_double_eq_tol(interval.high, ratio * exp(reach) - 1, TINY);
}

static double quantile(unsigned int freedom)
{
	return student_quantile((1 + CONFIDENCE) / 2, freedom);
}

TEST(test_variance_of_equal_numbers_of_runs_is_pooled)
{
	const struct run_mean a = SIDE(0, 98, 102), b = SIDE(0, 190, 210);

	ck_assert_uint_eq(run_mean_freedom(&a, &b), 2);
	check_interval(&a, &b, quantile(2) * sqrt(0.02 * 0.02 + 0.05 * 0.05));
}

TEST(test_one_run_varies_as_the_runs_of_the_other_side)
{
	const struct run_mean one = SIDE(0, 99), two = SIDE(0, 98, 102);

	ck_assert_uint_eq(run_mean_freedom(&one, &two), 1);
	check_interval(&one, &two, quantile(1) * 0.02 * sqrt(2 * (1 + 1.0 / 2)));
	ck_assert_uint_eq(run_mean_freedom(&one, &one), 0);
}

/* Cochran and Cox: 1 degree of freedom for A's share in the variance, 2 for B's. */
TEST(test_few_runs_of_different_number_have_separate_variances)
{
	const struct run_mean a = SIDE(0, 98, 102), b = SIDE(0, 190, 200, 210);
	const double var_a = 0.02 * 0.02, var_b = 0.05 * 0.05 / 3;
	const double t = (var_a * quantile(1) + var_b * quantile(2)) / (var_a + var_b);

	check_interval(&a, &b, t * sqrt(var_a + var_b));
}

/* The variances of the means are 2.5 / 5 and 3.5 / 6 of 10^-4, so Welch has 8.99 degrees. */
TEST(test_many_runs_of_different_number_have_welch_degrees_of_freedom)
{
	const struct run_mean a = SIDE(0, 98, 99, 100, 101, 102);
	const struct run_mean b = SIDE(0, 97.5, 98.5, 99.5, 100.5, 101.5, 102.5);

	check_interval(&a, &b, quantile(8) * 0.01 * sqrt(2.5 / 5 + 3.5 / 6));
}

TEST(test_side_of_few_noisy_runs_is_not_judged_by_many_quiet_ones)
{
	const struct run_mean a = SIDE(0, 100, 160);
	const struct run_mean b = SIDE(0, 100, 101, 99, 100, 101, 99, 100, 100);
	const struct interval interval = run_mean_interval(&a, &b, CONFIDENCE);

	ck_assert_double_lt(interval.low, 0);
	ck_assert_double_gt(interval.high, 0);
}

TEST(test_equal_numbers_in_all_runs_differ_by_more_than_their_grain)
{
	const struct run_mean a = SIDE(1, 5000, 5000), b = SIDE(1, 5500, 5500);
	const struct run_mean few = SIDE(1, 10, 10), more = SIDE(1, 12, 12);
	struct interval interval = run_mean_interval(&a, &b, 0.9999);

	/* Student's quantile is 100. */
	ck_assert_double_gt(interval.low, 0);
	interval = run_mean_interval(&few, &more, CONFIDENCE);
	ck_assert_double_lt(interval.low, 0);
	ck_assert_double_gt(interval.high, interval.difference);
}

TEST(test_side_without_any_fault_differs_from_one_with_many)
{
	const struct run_mean none = SIDE(0, 0, 0), many = SIDE(1, 140, 150), one = SIDE(1, 1, 0);
	struct interval interval = run_mean_interval(&none, &many, CONFIDENCE);

	ck_assert(isinf(interval.difference) && isinf(interval.low) && isinf(interval.high));
	interval = run_mean_interval(&many, &none, CONFIDENCE);
	ck_assert_double_eq(interval.difference, -1);
	ck_assert_double_eq(interval.low, -1);
	ck_assert_double_lt(interval.high, -0.9);
	interval = run_mean_interval(&none, &one, CONFIDENCE);
	ck_assert(isinf(interval.difference) && interval.low == -1);
	interval = run_mean_interval(&none, &none, CONFIDENCE);
	ck_assert(interval.difference == 0 && interval.low == 0 && interval.high == 0);
}

TEST(test_interval_without_an_end_is_infinite)
{
	const struct run_mean a = SIDE(10, 1, 9), b = SIDE(10, 100, 1);
	const struct interval interval = run_mean_interval(&a, &b, 0.99);

	ck_assert(isinf(interval.high));
	ck_assert_double_eq(interval.low, -1);
}
