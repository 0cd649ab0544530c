// SPDX-License-Identifier: GPL-2.0-only
/* Runs that are the same are called so, runs that differ too, and few faults neither. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/correlate/comparison.h"

#define TINY 0.000000001
#define ALL_PARTS ((1U << NR_PARTS) - 1)

static const volatile sig_atomic_t stop;

/* A class of faults in a run. */
struct sample {
	struct comparison_side side;
	struct quantiles histograms[NR_PARTS + 1];
	const struct quantiles *pointers[NR_PARTS + 1];
};

static void sample_open(struct sample *sample)
{
	unsigned int part;

	*sample = (struct sample){ 0 };
	for (part = 0; part <= NR_PARTS; part++) {
		sample->pointers[part] = &sample->histograms[part];
		sample->side.times[part].several = &sample->pointers[part];
		sample->side.times[part].nr = 1;
	}
}

static void sample_close(struct sample *sample)
{
	unsigned int part;

	for (part = 0; part <= NR_PARTS; part++)
		quantile_exit(&sample->histograms[part]);
}

static void put(struct sample *sample, unsigned int part, uint64_t ns)
{
	ck_assert_int_eq(quantile_add(&sample->histograms[part], ns), 0);
	sample->side.times[part].total_ns += ns;
}

/* One fault: on the CPU, and at the device. */
static void add(struct sample *sample, uint64_t cpu_ns, uint64_t device_ns)
{
	unsigned int part;

	for (part = 0; part < NR_PARTS; part++)
		put(sample, part, part == PART_CPU_BEFORE ? cpu_ns :
				  part == PART_DEVICE ? device_ns : 0);
	put(sample, NR_PARTS, cpu_ns + device_ns);
	sample->side.count++;
}

static double uniform(uint64_t *state)
{
	return ldexp((random_next(state) >> 11) + 0.5, -53);
}

/* 5 µs on the CPU and 100 µs at the device, each with a tail. */
static void fill(struct sample *sample, size_t nr, double slower, uint64_t *state)
{
	sample_open(sample);
	while (nr--)
		add(sample, 3000 - 2000 * log(uniform(state)),
		    slower * (80000 - 20000 * log(uniform(state))));
}

static const struct comparison_row *find(const struct comparison *comparison, const char *class,
					 const char *measure)
{
	size_t i;

	for (i = 0; i < comparison->nr; i++)
		if (!strcmp(comparison->rows[i].class, class) &&
		    !strcmp(comparison_measure_name(&comparison->rows[i]), measure))
			return &comparison->rows[i];
	ck_abort_msg("no %s %s", class, measure);
}

static struct comparison compare(const struct sample *a, const struct sample *b, double threshold)
{
	struct comparison comparison = { 0 };

	comparison_add(&comparison, "disk", &a->side, &b->side, ALL_PARTS);
	ck_assert_int_eq(comparison_judge(&comparison, 0.95, threshold, 1, &stop), 0);
	return comparison;
}

START_TEST(test_same_run_twice_is_no_change_even_without_a_threshold)
{
	struct comparison comparison;
	struct sample a;
	uint64_t state = 1;
	size_t i;

	fill(&a, 500, 1, &state);
	a.side.major = 400;
	comparison = compare(&a, &a, 0);
	ck_assert(!comparison.change);
	/* Faults, major, whole, and every part. */
	ck_assert_uint_eq(comparison.nr, 3 + NR_PARTS);
	/* Six parts are 0 in both. */
	ck_assert_uint_eq(comparison.nr_judged, 3 + 2);
	for (i = 0; i < comparison.nr; i++) {
		ck_assert_int_eq(comparison.rows[i].verdict, COMPARISON_SAME);
		ck_assert_double_eq(comparison.rows[i].interval.difference, 0);
		ck_assert_double_eq(comparison.rows[i].a, comparison.rows[i].b);
	}
	sample_close(&a);
}
END_TEST

START_TEST(test_slower_device_is_found_where_it_is)
{
	struct comparison comparison;
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 2;

	fill(&a, 1000, 1, &state);
	fill(&b, 1000, 1.2, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(comparison.change);
	row = find(&comparison, "disk", "device");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert_double_eq_tol(row->interval.difference, 0.2, 0.03);
	ck_assert_double_eq_tol(row->a, 100000, 2000);
	ck_assert_double_eq_tol(row->b, 120000, 2400);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_CHANGE);
	ck_assert_int_eq(find(&comparison, "disk", "cpu_before")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "lock")->verdict, COMPARISON_SAME);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

START_TEST(test_difference_below_the_threshold_is_none)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 3;

	fill(&a, 3000, 1, &state);
	fill(&b, 3000, 1.2, &state);
	comparison = compare(&a, &b, 0.5);
	ck_assert(!comparison.change);
	ck_assert_double_gt(find(&comparison, "disk", "device")->interval.low, 0);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

/* 12 rows a pair: at 95 % for each, nearly half of all pairs would be called changed. */
START_TEST(test_runs_of_the_same_are_seldom_called_changed)
{
	enum { PAIRS = 30 };
	struct comparison comparison;
	struct sample a[3], b[3];
	static const char *const classes[] = { "disk", "wait", "long" };
	unsigned int pair, i, changed = 0;
	uint64_t state = 4;

	for (pair = 0; pair < PAIRS; pair++) {
		comparison = (struct comparison){ 0 };
		for (i = 0; i < 3; i++) {
			fill(&a[i], 200, 1, &state);
			fill(&b[i], 200, 1, &state);
			comparison_add(&comparison, classes[i], &a[i].side, &b[i].side,
				       ALL_PARTS);
		}
		ck_assert_int_eq(comparison_judge(&comparison, 0.95, 0, pair, &stop), 0);
		ck_assert_uint_eq(comparison.nr_judged, 3 * 4);
		changed += comparison.change;
		for (i = 0; i < 3; i++) {
			sample_close(&a[i]);
			sample_close(&b[i]);
		}
	}
	/* 1.5 of 30 are expected at most; more than 5 have a probability of 0.3 %. */
	ck_assert_uint_le(changed, 5);
}
END_TEST

/* Nine of each say nothing, however far apart. */
START_TEST(test_few_faults_are_too_few)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 5;

	fill(&a, BOOTSTRAP_FEW - 1, 1, &state);
	fill(&b, BOOTSTRAP_FEW - 1, 10, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(!comparison.change);
	ck_assert_uint_eq(comparison.nr_judged, 0);
	/* Nobody to share it with. */
	ck_assert_double_eq(comparison.how.confidence, 1 - 0.05);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_FEW);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_FEW);
	ck_assert_int_eq(find(&comparison, "disk", "device")->verdict, COMPARISON_FEW);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

START_TEST(test_class_of_one_run_only_is_a_change_by_count)
{
	struct comparison comparison;
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 6;

	fill(&a, 100, 1, &state);
	fill(&b, 0, 1, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(comparison.change);
	row = find(&comparison, "disk", "faults");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert_double_eq(row->interval.difference, -1);
	row = find(&comparison, "disk", "whole");
	ck_assert_int_eq(row->verdict, COMPARISON_FEW);
	ck_assert(isnan(row->b));
	comparison = compare(&b, &a, 0.05);
	row = find(&comparison, "disk", "faults");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert(isinf(row->interval.difference));
	sample_close(&a);
	sample_close(&b);
}
END_TEST

START_TEST(test_class_of_neither_run_has_no_rows)
{
	struct comparison comparison;
	struct sample a;
	uint64_t state = 7;

	fill(&a, 0, 1, &state);
	comparison = compare(&a, &a, 0.05);
	ck_assert_uint_eq(comparison.nr, 0);
	ck_assert(!comparison.change);
	sample_close(&a);
}
END_TEST

START_TEST(test_part_that_one_run_does_not_know_is_not_judged)
{
	struct comparison comparison = { 0 };
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 8;

	fill(&a, 500, 1, &state);
	fill(&b, 500, 2, &state);
	comparison_add(&comparison, "disk", &a.side, &b.side, 1U << PART_CPU_BEFORE);
	ck_assert_int_eq(comparison_judge(&comparison, 0.95, 0.05, 1, &stop), 0);
	row = find(&comparison, "disk", "device");
	ck_assert_int_eq(row->verdict, COMPARISON_UNKNOWN);
	ck_assert(isnan(row->a) && isnan(row->b));
	ck_assert_int_eq(find(&comparison, "disk", "cpu_before")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_CHANGE);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

START_TEST(test_number_of_major_faults_is_compared)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 9;

	fill(&a, 1000, 1, &state);
	fill(&b, 1000, 1, &state);
	a.side.major = 1000;
	b.side.major = 0;
	comparison = compare(&a, &b, 0.05);
	ck_assert_int_eq(find(&comparison, "disk", "major")->verdict, COMPARISON_CHANGE);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

START_TEST(test_judging_ends_when_told)
{
	const volatile sig_atomic_t told = SIGINT;
	struct comparison comparison = { 0 };
	struct sample a;
	uint64_t state = 11;

	fill(&a, 200, 1, &state);
	comparison_add(&comparison, "disk", &a.side, &a.side, ALL_PARTS);
	ck_assert_int_eq(comparison_judge(&comparison, 0.95, 0, 1, &told), -EINTR);
	sample_close(&a);
}
END_TEST

/* The more rows, the more is asked of each. */
START_TEST(test_confidence_is_shared_by_the_rows)
{
	struct comparison one = { 0 }, both = { 0 };
	struct sample a, b;
	uint64_t state = 10;

	fill(&a, 200, 1, &state);
	fill(&b, 200, 1, &state);
	comparison_add(&one, "disk", &a.side, &b.side, ALL_PARTS);
	comparison_add(&both, "disk", &a.side, &b.side, ALL_PARTS);
	comparison_add(&both, "wait", &a.side, &b.side, ALL_PARTS);
	ck_assert_int_eq(comparison_judge(&one, 0.95, 0, 1, &stop), 0);
	ck_assert_int_eq(comparison_judge(&both, 0.95, 0, 1, &stop), 0);
	ck_assert_double_eq_tol(one.how.confidence, 1 - 0.05 / 4, TINY);
	ck_assert_double_eq_tol(both.how.confidence, 1 - 0.05 / 8, TINY);
	ck_assert_uint_eq(one.how.replicates, 1000);
	ck_assert_uint_ge(both.how.replicates, 1600);
	ck_assert_uint_le(both.how.replicates, 1601);
	ck_assert_double_gt(find(&both, "disk", "whole")->interval.high,
			    find(&one, "disk", "whole")->interval.high);
	sample_close(&a);
	sample_close(&b);
}
END_TEST

RUN_TESTS("comparison",
	  test_same_run_twice_is_no_change_even_without_a_threshold,
	  test_slower_device_is_found_where_it_is,
	  test_difference_below_the_threshold_is_none,
	  test_runs_of_the_same_are_seldom_called_changed,
	  test_few_faults_are_too_few,
	  test_class_of_one_run_only_is_a_change_by_count,
	  test_class_of_neither_run_has_no_rows,
	  test_part_that_one_run_does_not_know_is_not_judged,
	  test_number_of_major_faults_is_compared,
	  test_confidence_is_shared_by_the_rows,
	  test_judging_ends_when_told)
