// SPDX-License-Identifier: GPL-2.0-only
/* Confidence intervals hold the true value as often as they promise, in runs with a known truth. */
#include <math.h>

#include "apps/compare/compare.h"
#include "random.h"
#include "runner.h"

#define PAIRS	   200
#define TINY	   0.000000001
#define CONFIDENCE 0.95

struct run {
	struct fault_batches batches;
	uint64_t now_ns;
};

static void put(struct run *run, uint64_t ns)
{
	const struct explained fault = {
		.start_ns = run->now_ns,
		.end_ns = run->now_ns + ns,
		.parts_ns[PART_CPU_BEFORE] = ns,
	};

	fault_batches_add(&run->batches, &fault, 0);
	run->now_ns = fault.end_ns;
}

static double uniform(uint64_t *state)
{
	return ldexp((random_next(state) >> 11) + 0.5, -53);
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* A long tail, as faults have: 20 µs plus an exponential with a mean of 100 µs. */
static struct run run_of(size_t nr, double stretch, uint64_t *state)
{
	struct run run = { 0 };

	while (nr--)
		put(&run, stretch * (20000 - 100000 * log(uniform(state))));
	fault_batches_end(&run.batches, 0, run.now_ns);
	return run;
}

static struct interval means(const struct run *a, const struct run *b)
{
	const struct estimate of_a = batches_estimate_mean(&a->batches, NR_PARTS);
	const struct estimate of_b = batches_estimate_mean(&b->batches, NR_PARTS);

	return batches_interval(&of_a, &of_b, CONFIDENCE);
}

static bool excludes(const struct interval *interval, double truth)
{
	return truth < interval->low || truth > interval->high;
}

/*
 * Number of run pairs, out of PAIRS, whose interval misses the true difference. b is a stretched.
 */
static unsigned int nr_missed(size_t nr, double stretch, uint64_t seed)
{
	struct interval interval;
	unsigned int pair, missed = 0;
	struct run a, b;

	for (pair = 0; pair < PAIRS; pair++) {
		a = run_of(nr, 1, &seed);
		b = run_of(nr, stretch, &seed);
		interval = means(&a, &b);
		missed += excludes(&interval, stretch - 1);
	}
	return missed;
}

/* 10 of 200 are expected. Fewer than 3 or more than 18 have a probability of 1 %. */
TEST(test_interval_of_equal_runs_misses_zero_in_5_percent)
{
	unsigned int missed = nr_missed(300, 1, 11);

	ck_assert_uint_ge(missed, 3);
	ck_assert_uint_le(missed, 18);
}

TEST(test_interval_misses_a_true_difference_in_5_percent)
{
	unsigned int missed = nr_missed(300, 1.2, 12);

	ck_assert_uint_ge(missed, 3);
	ck_assert_uint_le(missed, 18);
}

TEST(test_interval_of_few_faults_misses_in_5_percent)
{
	ck_assert_uint_le(nr_missed(10, 1, 13), 18);
}

/* Only sums over batches are kept, and they add up to the run. */
TEST(test_batches_hold_every_fault_of_a_long_run)
{
	struct run run = { 0 };
	uint64_t faults = 0, ns = 0, by_time = 0;
	size_t i;

	for (i = 0; i < 100000; i++)
		put(&run, i % 1000);
	for (i = 0; i < run.batches.by_number.nr; i++) {
		faults += run.batches.by_number.sums[i][BATCH_FAULTS];
		ns += run.batches.by_number.sums[i][BATCH_TIME + NR_PARTS];
	}
	for (i = 0; i < run.batches.by_time.nr; i++)
		by_time += run.batches.by_time.sums[i][BATCH_FAULTS];
	ck_assert_uint_eq(faults, 100000);
	ck_assert_uint_eq(by_time, 100000);
	ck_assert_uint_eq(ns, 100 * 499500);
	ck_assert_uint_eq(ns, run.batches.sums[BATCH_TIME + NR_PARTS]);
	ck_assert_uint_eq(run.batches.by_number.length, 4096);
	ck_assert_uint_eq(run.batches.by_number.nr, 25);
}

/* A slowly starting program starts slowly in every run. */
TEST(test_phases_do_not_widen_the_interval)
{
	uint64_t state = 14;
	struct run steady = { 0 }, phases = { 0 };
	struct estimate one, two;
	size_t i;

	for (i = 0; i < 20480; i++)
		put(&steady, 110000 - 10000 * log(uniform(&state)));
	for (i = 0; i < 20480; i++)
		put(&phases, i * 10 - 10000 * log(uniform(&state)));
	one = batches_estimate_mean(&steady.batches, NR_PARTS);
	two = batches_estimate_mean(&phases.batches, NR_PARTS);
	/*
	 * Batches deviate by 59 µs from their mean. If their order is ignored, the error is 13 µs.
	 */
	ck_assert_double_lt(sqrt(two.variance), 2000);
	ck_assert_double_lt(sqrt(one.variance), 150);
}

TEST(test_bursts_widen_the_interval)
{
	uint64_t state = 15;
	struct run bursts = { 0 };
	double fate = 0;
	size_t i;

	for (i = 0; i < 20480; i++) {
		if (i % 50 == 0)
			fate = exp(0.5 * normal(&state));
		put(&bursts, 100000 * fate);
	}
	/* 410 bursts with relative deviation 0.53: 2.6 %. */
	ck_assert_double_eq_tol(sqrt(batches_estimate_mean(&bursts.batches, NR_PARTS).variance) /
					batches_estimate_mean(&bursts.batches, NR_PARTS).value,
				0.026, 0.008);
}

TEST(test_constant_times_differ_by_their_exact_difference)
{
	struct run a = { 0 }, b = { 0 };
	struct interval interval;
	int i;

	for (i = 0; i < 100; i++) {
		put(&a, 1000000);
		put(&b, 1000700);
	}
	interval = means(&a, &b);
	ck_assert_double_eq_tol(interval.difference, 0.0007, TINY);
	ck_assert_double_eq_tol(interval.low, 0.0007, TINY);
	ck_assert_double_eq_tol(interval.high, 0.0007, TINY);
}

/* One fault in a thousand met a lock. The next thousand may meet none. */
TEST(test_a_single_slow_fault_is_not_significant)
{
	struct run a = { 0 }, b = { 0 };
	struct interval interval;
	int i;

	for (i = 0; i < 1000; i++) {
		put(&a, 0);
		put(&b, i == 500 ? 5000 : 0);
	}
	interval = means(&a, &b);
	ck_assert(isinf(interval.difference));
	ck_assert_double_le(interval.low, 0);
	interval = means(&b, &a);
	ck_assert_double_eq(interval.difference, -1);
	ck_assert_double_ge(interval.high, 0);
	a = (struct run){ 0 };
	b = (struct run){ 0 };
	for (i = 0; i < 1000; i++) {
		put(&a, 0);
		put(&b, i % 10 ? 0 : 5000);
	}
	interval = means(&a, &b);
	ck_assert(isinf(interval.low));
	ck_assert_double_eq(means(&b, &a).high, -1);
}

TEST(test_zero_time_in_both_runs_is_not_a_difference)
{
	struct run a = { 0 };
	struct interval interval;
	int i;

	for (i = 0; i < 100; i++)
		put(&a, 0);
	interval = means(&a, &a);
	ck_assert_double_eq(interval.difference, 0);
	ck_assert_double_eq(interval.low, 0);
	ck_assert_double_eq(interval.high, 0);
}

#define ESTIMATE(mean, square, degrees)                               \
	(struct estimate)                                             \
	{                                                             \
		.value = mean, .variance = square, .freedom = degrees \
	}

/* The interval excludes 0 exactly if a difference test is significant. */
TEST(test_interval_agrees_with_the_test_of_the_difference)
{
	const struct estimate a = ESTIMATE(100, 16, 30), near = ESTIMATE(112, 16, 30),
			      far = ESTIMATE(113, 16, 30);
	/* t for 60 degrees of freedom, 97.5 %: 2.000. Times sqrt(32): 11.31. */
	struct interval interval = batches_interval(&a, &near, CONFIDENCE);

	ck_assert_double_gt(interval.low, 0);
	interval = batches_interval(&a, &far, CONFIDENCE);
	ck_assert_double_gt(interval.low, 0);
	interval = batches_interval(&a, &ESTIMATE(111, 16, 30), CONFIDENCE);
	ck_assert_double_lt(interval.low, 0);
	interval = batches_interval(&a, &ESTIMATE(89, 16, 30), CONFIDENCE);
	ck_assert_double_gt(interval.high, 0);
	interval = batches_interval(&a, &ESTIMATE(88, 16, 30), CONFIDENCE);
	ck_assert_double_lt(interval.high, 0);
}

TEST(test_ratio_to_a_value_near_zero_has_no_upper_bound)
{
	const struct estimate a = ESTIMATE(1, 4, 30), b = ESTIMATE(100, 4, 30);
	struct interval interval = batches_interval(&a, &b, CONFIDENCE);

	ck_assert(isinf(interval.high));
	ck_assert_double_gt(interval.low, 0);
	ck_assert(isfinite(interval.low));
	interval = batches_interval(&b, &a, CONFIDENCE);
	ck_assert_double_eq(interval.low, -1);
	ck_assert_double_lt(interval.high, 0);
}

/* The faults of a watched program come in bursts, so their rate varies with the bursts. */
TEST(test_rates_vary_by_bursts_in_time)
{
	struct fault_batches batches = { 0 };
	struct explained fault = { 0 };
	struct estimate poisson, rate;
	uint64_t state = 16;
	unsigned int burst, i;

	for (burst = 0; burst < 200; burst++) {
		fault.start_ns = 10000000000 * uniform(&state);
		for (i = 0; i < 100; i++) {
			fault.end_ns = fault.start_ns + i;
			fault_batches_add(&batches, &fault, 0);
		}
	}
	fault_batches_end(&batches, 0, 10000000000);
	poisson = batches_estimate_sum(&batches, BATCH_FAULTS, 0);
	ck_assert_double_eq(poisson.value, 20000);
	ck_assert_double_eq(poisson.variance, 20000);
	rate = batches_estimate_sum(&batches, BATCH_FAULTS, 10);
	ck_assert_double_eq(rate.value, 2000);
	/* 200 bursts: 7 %, not 0.7 % */
	ck_assert_double_gt(sqrt(rate.variance) / rate.value, 0.045);
	ck_assert_double_lt(sqrt(rate.variance) / rate.value, 0.1);
}

/* Nine short ones beside it are no matter: the long one makes the sum. */
TEST(test_grain_is_the_part_of_the_sum_that_one_fault_makes)
{
	struct run run = { 0 };
	int i;

	for (i = 0; i < 10; i++)
		put(&run, i ? 10 : 1000);
	ck_assert_double_eq_tol(batches_estimate_sum(&run.batches, BATCH_TIME + NR_PARTS, 0).grain,
				(1000 * 1000 + 9 * 100) / 1090.0, TINY);
	ck_assert_double_eq_tol(batches_estimate_mean(&run.batches, PART_CPU_BEFORE).grain,
				(1000 * 1000 + 9 * 100) / 10900.0, TINY);
	ck_assert_double_eq(batches_estimate_mean(&run.batches, PART_DEVICE).grain, 0);
	ck_assert_double_eq(batches_estimate_sum(&run.batches, BATCH_FAULTS, 0).grain, 1);
	ck_assert_double_eq(batches_estimate_sum(&run.batches, BATCH_FAULTS, 4).grain, 0.25);
}

TEST(test_bytes_read_vary_by_requests)
{
	struct read_batches reads = { 0 };
	struct estimate estimate;
	int i;

	for (i = 0; i < 100; i++)
		read_batches_add(&reads, 4096, 1000 * i, 0);
	read_batches_end(&reads, 0, 100000);
	estimate = batches_estimate_reads(&reads, 0);
	ck_assert_double_eq(estimate.value, 409600);
	ck_assert_double_eq(sqrt(estimate.variance), 40960);
	ck_assert_double_eq(estimate.grain, 4096);
	ck_assert_double_eq(batches_estimate_reads(&reads, 0.0001).value, 4096000000);
}
