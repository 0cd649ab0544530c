// SPDX-License-Identifier: GPL-2.0-only
/* Statistics over runs, compared with published quantiles, a worked example and known means. */
#include <math.h>
#include <stdint.h>

#include "runner.h"
#include "user/util/statistics.h"
#include "user/util/random.h"

#define TINY	0.000000001
#define SAMPLES 4000

static struct statistics of(const double *values, size_t nr)
{
	struct statistics statistics;

	ck_assert_int_eq(statistics_of(&statistics, values, nr), 0);
	return statistics;
}

/* Abramowitz and Stegun, table 26.10, to three decimals. */
TEST(test_quantiles_match_the_published_ones)
{
	static const struct {
		unsigned int freedom;
		double t;
	} table[] = {
		{ 1, 12.706 }, { 2, 4.303 },  { 3, 3.182 },   { 4, 2.776 },
		{ 5, 2.571 },  { 9, 2.262 },  { 10, 2.228 },  { 29, 2.045 },
		{ 30, 2.042 }, { 60, 2.000 }, { 120, 1.980 },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		ck_assert_double_eq_tol(student_quantile(0.975, table[i].freedom), table[i].t,
					0.0005);
	ck_assert_double_eq_tol(student_quantile(0.95, 7), 1.895, 0.0005);
	ck_assert_double_eq_tol(student_quantile(0.5, 7), 0, TINY);
}

TEST(test_statistics_match_a_worked_example)
{
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	const struct statistics statistics = of(values, 8);

	ck_assert_uint_eq(statistics.runs, 8);
	ck_assert_double_eq_tol(statistics.mean, 5, TINY);
	ck_assert_double_eq_tol(statistics.stddev, sqrt(32.0 / 7), TINY);
	ck_assert_double_eq_tol(statistics.half_width, 2.3646 * sqrt(32.0 / 7 / 8), 0.0001);
	ck_assert_double_eq_tol(statistics.median, 4.5, TINY);
	ck_assert_double_eq_tol(statistics.min, 2, TINY);
	ck_assert_double_eq_tol(statistics.max, 9, TINY);
}

TEST(test_order_does_not_matter)
{
	static const double one[] = { 3, 1, 2, 100, 5 }, other[] = { 100, 5, 1, 2, 3 };
	const struct statistics a = of(one, 5), b = of(other, 5);

	ck_assert_double_eq_tol(a.median, b.median, TINY);
	ck_assert_double_eq_tol(a.half_width, b.half_width, TINY);
	ck_assert_uint_eq(a.outliers, b.outliers);
}

TEST(test_outliers_are_counted_and_kept)
{
	static const double values[] = { 10, 11, 10, 12, 11, 10, 11, 12, 1000, 0.001 };
	const struct statistics statistics = of(values, 10);

	ck_assert_uint_eq(statistics.outliers, 2);
	ck_assert_double_gt(statistics.mean, 100);
	ck_assert_double_le(statistics.median, 11);
}

TEST(test_one_run_has_no_spread)
{
	static const double value = 7;
	const struct statistics statistics = of(&value, 1);

	ck_assert(isnan(statistics.stddev) && isnan(statistics.half_width));
	ck_assert_double_eq_tol(statistics.mean, 7, TINY);
	ck_assert_uint_eq(statistics.outliers, 0);
}

static double uniform(struct random *random)
{
	return ldexp((random_u64(random) >> 11) + 0.5, -53);
}

/* Box and Muller's method: mean 50, standard deviation 3. */
static double normal(struct random *random)
{
	return 50 + 3 * sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

/* 95 % of 4000 intervals: the share holding the mean is within 1.4 % of 95 % (4 sigma). */
TEST(test_intervals_hold_the_mean_as_often_as_promised)
{
	struct random random = random_begin(7, 0);
	struct statistics statistics;
	unsigned int held = 0, i, j;
	double values[5];

	for (i = 0; i < SAMPLES; i++) {
		for (j = 0; j < 5; j++)
			values[j] = normal(&random);
		statistics = of(values, 5);
		held += fabs(statistics.mean - 50) <= statistics.half_width;
	}
	ck_assert_double_eq_tol((double)held / SAMPLES, 0.95, 0.014);
}

/* Of 4000 intervals, at most 7 % miss the mean: few values are not quite Student's. */
TEST(test_intervals_of_trimmed_means_hold_the_mean_nearly_as_often_as_promised)
{
	struct random random = random_begin(7, 0);
	struct trimmed_mean trimmed;
	unsigned int missed = 0, i, j;
	double values[7];

	for (i = 0; i < SAMPLES; i++) {
		for (j = 0; j < 7; j++)
			values[j] = normal(&random);
		ck_assert_int_eq(statistics_trimmed(&trimmed, values, 7), 0);
		missed += fabs(trimmed.mean - 50) >
			  trimmed.standard_error * student_quantile(0.975, trimmed.freedom);
	}
	ck_assert_double_lt((double)missed / SAMPLES, 0.07);
}

/* Worked by hand: 2, 3 and 4 remain. The winsorized 2 2 3 4 4 has squares 4. */
TEST(test_a_trimmed_mean_leaves_out_a_fifth_on_each_side)
{
	static const double values[] = { 1000, 3, 2, -50, 4 };
	struct trimmed_mean trimmed;

	ck_assert_int_eq(statistics_trimmed(&trimmed, values, 5), 0);
	ck_assert_double_eq_tol(trimmed.mean, 3, TINY);
	ck_assert_double_eq_tol(trimmed.standard_error, sqrt(4.0 / (3 * 2)), TINY);
	ck_assert_uint_eq(trimmed.freedom, 2);
}

TEST(test_a_trimmed_mean_of_few_values_is_their_mean)
{
	static const double values[] = { 4, 1, 7 };
	struct statistics all = of(values, 3);
	struct trimmed_mean trimmed;

	ck_assert_int_eq(statistics_trimmed(&trimmed, values, 3), 0);
	ck_assert_double_eq_tol(trimmed.mean, all.mean, TINY);
	ck_assert_double_eq_tol(trimmed.standard_error, all.stddev / sqrt(3), TINY);
	ck_assert_uint_eq(trimmed.freedom, 2);
	ck_assert_int_eq(statistics_trimmed(&trimmed, values, 1), 0);
	ck_assert(isnan(trimmed.standard_error));
	ck_assert_uint_eq(trimmed.freedom, 0);
}
