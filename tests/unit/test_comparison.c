// SPDX-License-Identifier: GPL-2.0-only
/* Verdicts on equal runs, on different runs, and on runs with too few faults. */
#include <math.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "apps/compare/compare.h"

#define TINY	  0.000000001
#define ALL_PARTS ((1U << NR_PARTS) - 1 + COMPARISON_WHOLE)

/* The faults of one class in one run. */
struct sample {
	struct fault_batches batches;
	struct comparison_side side;
	uint64_t now_ns;
};

static void sample_open(struct sample *sample)
{
	*sample = (struct sample){ 0 };
	sample->side.nr = 1;
	sample->side.runs[0].faults = &sample->batches;
}

/* One fault: the time on the CPU, and at the device. */
static void add(struct sample *sample, uint64_t cpu_ns, uint64_t device_ns, bool major)
{
	const struct explained fault = {
		.start_ns = sample->now_ns,
		.end_ns = sample->now_ns + cpu_ns + device_ns,
		.parts_ns = { [PART_CPU_BEFORE] = cpu_ns, [PART_DEVICE] = device_ns },
		.major = major,
	};

	fault_batches_add(&sample->batches, &fault, 0);
	sample->now_ns = fault.end_ns;
}

static double uniform(uint64_t *state)
{
	return ldexp((random_next(state) >> 11) + 0.5, -53);
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* 5 µs on the CPU and 100 µs at the device, each with a tail. */
static void fill(struct sample *sample, size_t nr, double slower, size_t major, uint64_t *state)
{
	size_t i;

	sample_open(sample);
	for (i = 0; i < nr; i++)
		add(sample, 3000 - 2000 * log(uniform(state)),
		    slower * (80000 - 20000 * log(uniform(state))), i < major);
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

/* One run on each side is judged, too. */
static void judge(struct comparison *comparison, double threshold)
{
	comparison_judge(comparison, &(struct comparison_rules){ .confidence = 0.95,
								 .threshold = threshold,
								 .single = true });
}

static struct comparison compare(const struct sample *a, const struct sample *b, double threshold)
{
	struct comparison comparison = { 0 };

	comparison_add(&comparison, "disk", &a->side, &b->side, ALL_PARTS);
	judge(&comparison, threshold);
	return comparison;
}

TEST(test_same_run_twice_has_no_change_even_without_a_threshold)
{
	struct comparison comparison;
	struct sample a;
	uint64_t state = 1;
	size_t i;

	fill(&a, 500, 1, 400, &state);
	comparison = compare(&a, &a, 0);
	ck_assert(!comparison.change);
	/* Total, faults, major, whole, and every part. */
	ck_assert_uint_eq(comparison.nr, 4 + NR_PARTS);
	/* Six parts are 0 in both. */
	ck_assert_uint_eq(comparison.nr_judged, 4 + 2);
	for (i = 0; i < comparison.nr; i++) {
		ck_assert_int_eq(comparison.rows[i].verdict, COMPARISON_SAME);
		ck_assert_double_eq(comparison.rows[i].interval.difference, 0);
		if (!isnan(comparison.rows[i].a.value))
			ck_assert_double_eq(comparison.rows[i].a.value, comparison.rows[i].b.value);
	}
}

TEST(test_slower_device_changes_only_the_device_part)
{
	struct comparison comparison;
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 2;

	fill(&a, 1000, 1, 0, &state);
	fill(&b, 1000, 1.2, 0, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(comparison.change);
	row = find(&comparison, "disk", "device");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert_double_eq_tol(row->interval.difference, 0.2, 0.03);
	ck_assert_double_eq_tol(row->a.value, 100000, 2000);
	ck_assert_double_eq_tol(row->b.value, 120000, 2400);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_CHANGE);
	ck_assert_int_eq(find(&comparison, "disk", "cpu_before")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "blocked")->verdict, COMPARISON_SAME);
}

TEST(test_difference_below_the_threshold_is_not_a_change)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 3;

	fill(&a, 3000, 1, 0, &state);
	fill(&b, 3000, 1.2, 0, &state);
	comparison = compare(&a, &b, 0.5);
	ck_assert(!comparison.change);
	ck_assert_double_gt(find(&comparison, "disk", "device")->interval.low, 0);
}

/*
 * 15 rows for each pair: with 95 % for each row, nearly half of all pairs would have a verdict
 * "changed".
 */
TEST(test_equal_runs_are_seldom_reported_as_changed)
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
			fill(&a[i], 200, 1, 0, &state);
			fill(&b[i], 200, 1, 0, &state);
			comparison_add(&comparison, classes[i], &a[i].side, &b[i].side, ALL_PARTS);
		}
		judge(&comparison, 0);
		ck_assert_uint_eq(comparison.nr_judged, 3 * 5);
		changed += comparison.change;
	}
	/* 1.5 of 30 are expected at most. More than 5 have a probability of 0.3 %. */
	ck_assert_uint_le(changed, 5);
}

/* Nine faults on each side allow no verdict, however much they differ. */
TEST(test_few_faults_give_no_verdict)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 5;

	fill(&a, COMPARISON_FEW - 1, 1, 0, &state);
	fill(&b, COMPARISON_FEW - 1, 10, 0, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(!comparison.change);
	ck_assert_uint_eq(comparison.nr_judged, 0);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_TOO_FEW);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_TOO_FEW);
	ck_assert_int_eq(find(&comparison, "disk", "device")->verdict, COMPARISON_TOO_FEW);
}

TEST(test_class_of_one_run_only_is_a_change_by_count)
{
	struct comparison comparison;
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 6;

	fill(&a, 100, 1, 0, &state);
	fill(&b, 0, 1, 0, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert(comparison.change);
	row = find(&comparison, "disk", "faults");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert_double_eq(row->interval.difference, -1);
	row = find(&comparison, "disk", "whole");
	ck_assert_int_eq(row->verdict, COMPARISON_TOO_FEW);
	ck_assert(isnan(row->b.value));
	comparison = compare(&b, &a, 0.05);
	row = find(&comparison, "disk", "faults");
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert(isinf(row->interval.difference));
}

TEST(test_class_of_neither_run_has_no_rows)
{
	struct comparison comparison;
	struct sample a;
	uint64_t state = 7;

	fill(&a, 0, 1, 0, &state);
	comparison = compare(&a, &a, 0.05);
	ck_assert_uint_eq(comparison.nr, 0);
	ck_assert(!comparison.change);
}

TEST(test_part_unknown_in_one_run_has_no_verdict)
{
	struct comparison comparison = { 0 };
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 8;

	fill(&a, 500, 1, 0, &state);
	fill(&b, 500, 2, 0, &state);
	comparison_add(&comparison, "disk", &a.side, &b.side,
		       1U << PART_CPU_BEFORE | COMPARISON_WHOLE);
	judge(&comparison, 0.05);
	row = find(&comparison, "disk", "device");
	ck_assert_int_eq(row->verdict, COMPARISON_UNKNOWN);
	ck_assert(isnan(row->a.value) && isnan(row->b.value));
	ck_assert_int_eq(find(&comparison, "disk", "cpu_before")->verdict, COMPARISON_SAME);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_CHANGE);
}

TEST(test_times_of_calls_are_not_compared_with_those_of_whole_faults)
{
	struct comparison comparison = { 0 };
	struct sample a, b;
	uint64_t state = 8;

	fill(&a, 500, 1, 0, &state);
	fill(&b, 500, 2, 0, &state);
	comparison_add(&comparison, "disk", &a.side, &b.side, 0);
	judge(&comparison, 0.05);
	ck_assert_int_eq(find(&comparison, "disk", "total")->verdict, COMPARISON_UNKNOWN);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_UNKNOWN);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
	ck_assert(!comparison.change);
}

TEST(test_number_of_major_faults_is_compared)
{
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 9;

	fill(&a, 1000, 1, 1000, &state);
	fill(&b, 1000, 1, 0, &state);
	comparison = compare(&a, &b, 0.05);
	ck_assert_int_eq(find(&comparison, "disk", "major")->verdict, COMPARISON_CHANGE);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
}

/* With more rows, each row needs a higher confidence. */
TEST(test_confidence_is_shared_by_the_rows)
{
	struct comparison one = { 0 }, both = { 0 };
	struct sample a, b;
	uint64_t state = 10;

	fill(&a, 200, 1, 0, &state);
	fill(&b, 200, 1, 0, &state);
	comparison_add(&one, "disk", &a.side, &b.side, ALL_PARTS);
	comparison_add(&both, "disk", &a.side, &b.side, ALL_PARTS);
	comparison_add(&both, "wait", &a.side, &b.side, ALL_PARTS);
	judge(&one, 0);
	judge(&both, 0);
	ck_assert_double_eq_tol(find(&one, "disk", "whole")->confidence, 1 - 0.05 / 5, TINY);
	ck_assert_double_eq_tol(find(&both, "disk", "whole")->confidence, 1 - 0.05 / 10, TINY);
	ck_assert_double_gt(find(&both, "disk", "whole")->interval.high,
			    find(&one, "disk", "whole")->interval.high);
}

/* The total of all faults has nine tenths, and leaves them to the others once it differs. */
TEST(test_total_of_all_faults_is_tested_first)
{
	struct comparison comparison = { 0 };
	struct sample a, b;
	uint64_t state = 11;

	fill(&a, 200, 1, 0, &state);
	fill(&b, 200, 1, 0, &state);
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	judge(&comparison, 0);
	ck_assert(!comparison.change);
	ck_assert_double_eq_tol(find(&comparison, "all", "total")->confidence,
				1 - 0.05 * 0.9 / (0.9 + 4 * 0.1 / 5), TINY);
	ck_assert_double_eq_tol(find(&comparison, "all", "whole")->confidence,
				1 - 0.05 * 0.1 / 5 / (0.9 + 4 * 0.1 / 5), TINY);
	fill(&b, 200, 3, 0, &state);
	comparison = (struct comparison){ 0 };
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	judge(&comparison, 0);
	ck_assert_int_eq(find(&comparison, "all", "total")->verdict, COMPARISON_CHANGE);
	/* The total, the mean and the device differ. Two rows are left. */
	ck_assert_int_eq(find(&comparison, "all", "faults")->verdict, COMPARISON_SAME);
	ck_assert_double_eq_tol(find(&comparison, "all", "faults")->confidence, 1 - 0.05 / 2, TINY);
}

TEST(test_one_run_on_each_side_is_not_judged)
{
	const struct comparison_rules rules = { .confidence = 0.95, .threshold = 0.05 };
	struct comparison comparison = { 0 };
	struct sample a, b;
	uint64_t state = 18;

	fill(&a, 500, 1, 0, &state);
	fill(&b, 500, 2, 0, &state);
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	comparison_judge(&comparison, &rules);
	ck_assert(!comparison.change && comparison.not_judged && !comparison.incomplete);
	ck_assert_uint_eq(comparison.nr_judged, 0);
	ck_assert_int_eq(find(&comparison, "all", "total")->verdict, COMPARISON_NOT_JUDGED);
	ck_assert_double_gt(find(&comparison, "all", "total")->interval.difference, 0.8);
}

/* Each fault takes twice as long as the one before: the ends are -100 % and infinity. */
TEST(test_interval_without_an_end_is_too_few)
{
	struct comparison comparison;
	const struct comparison_row *row;
	struct sample a, b;
	unsigned int i;

	sample_open(&a);
	for (i = 0; i < COMPARISON_FEW; i++)
		add(&a, 1000 << i, 0, false);
	b = a;
	b.side.runs[0].faults = &b.batches;
	comparison = compare(&a, &b, 0.05);
	row = find(&comparison, "disk", "total");
	ck_assert_int_eq(row->verdict, COMPARISON_TOO_FEW);
	ck_assert_double_eq(row->confidence, 0);
	ck_assert(!comparison.change);
	for (i = 0; i < comparison.nr; i++)
		ck_assert(comparison.rows[i].verdict != COMPARISON_SAME ||
			  comparison.rows[i].interval.low > -1 ||
			  !isinf(comparison.rows[i].interval.high));
}

/* The kind occurs in one run on side A, so its mean time shows no variation there. */
TEST(test_mean_time_of_one_run_among_several_is_too_few)
{
	struct comparison comparison = { 0 };
	struct comparison_side side_a, side_b;
	struct sample a, none, b[2];
	uint64_t state = 21;

	fill(&a, 500, 1, 0, &state);
	fill(&none, 0, 1, 0, &state);
	fill(&b[0], 500, 1, 0, &state);
	fill(&b[1], 500, 1.01, 0, &state);
	side_a = (struct comparison_side){ .runs = { a.side.runs[0], none.side.runs[0] }, .nr = 2 };
	side_b = (struct comparison_side){ .runs = { b[0].side.runs[0], b[1].side.runs[0] },
					   .nr = 2 };
	comparison_add(&comparison, "disk", &side_a, &side_b, ALL_PARTS);
	judge(&comparison, 0.05);
	ck_assert_int_eq(find(&comparison, "disk", "whole")->verdict, COMPARISON_TOO_FEW);
	ck_assert_int_eq(find(&comparison, "disk", "faults")->verdict, COMPARISON_SAME);
}

TEST(test_runs_with_losses_above_the_threshold_are_not_judged)
{
	struct comparison_rules rules = { .confidence = 0.95, .threshold = 0.05, .single = true };
	const double losses[] = { 0.4, 0.051, INFINITY };
	struct comparison comparison;
	struct sample a, b;
	uint64_t state = 19;
	size_t i;

	fill(&a, 1000, 1, 0, &state);
	fill(&b, 600, 1, 0, &state);
	for (i = 0; i < 6; i++) {
		comparison = (struct comparison){ 0 };
		comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
		rules.lost[i % 2] = losses[i / 2];
		rules.lost[1 - i % 2] = 0;
		comparison_judge(&comparison, &rules);
		ck_assert(!comparison.change && comparison.incomplete && !comparison.not_judged);
		ck_assert_int_eq(find(&comparison, "all", "total")->verdict, COMPARISON_INCOMPLETE);
		ck_assert_int_eq(find(&comparison, "all", "faults")->verdict,
				 COMPARISON_INCOMPLETE);
	}
	/* Any loss is too much for a comparison without a threshold. */
	rules = (struct comparison_rules){ .confidence = 0.95, .single = true, .lost = { 1e-9 } };
	comparison_judge(&comparison, &rules);
	ck_assert(comparison.incomplete);
}

/* 9 % fewer faults in B, 4 % of which may be lost ones. */
TEST(test_losses_below_the_threshold_add_to_it)
{
	struct comparison_rules rules = { .confidence = 0.95, .threshold = 0.05, .single = true };
	struct comparison comparison = { 0 };
	struct sample a, b;
	uint64_t state = 20;

	fill(&a, 10000, 1, 0, &state);
	fill(&b, 9100, 1, 0, &state);
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	judge(&comparison, 0.05);
	ck_assert_int_eq(find(&comparison, "all", "faults")->verdict, COMPARISON_CHANGE);
	comparison = (struct comparison){ 0 };
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	rules.lost[0] = 0.01;
	rules.lost[1] = 0.04;
	comparison_judge(&comparison, &rules);
	ck_assert(!comparison.incomplete);
	ck_assert_int_eq(find(&comparison, "all", "faults")->verdict, COMPARISON_SAME);
}

/* Fewer but longer faults may cost less in total, so the total comes first. */
TEST(test_total_time_is_the_first_row)
{
	struct comparison comparison = { 0 };
	const struct comparison_row *row;
	struct sample a, b;
	uint64_t state = 12;

	fill(&a, 3000, 1, 0, &state);
	fill(&b, 1000, 2, 0, &state);
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	judge(&comparison, 0.05);
	row = comparison_total(&comparison);
	ck_assert_ptr_eq(row, &comparison.rows[0]);
	ck_assert_int_eq(row->verdict, COMPARISON_CHANGE);
	ck_assert_double_eq_tol(row->interval.difference, -0.35, 0.05);
	ck_assert_double_eq_tol(row->a.value, 3000 * 105000.0, 3000 * 1000.0);
	ck_assert_double_lt(row->interval.high, 0);
	ck_assert_double_gt(find(&comparison, "all", "whole")->interval.low, 0);
}

TEST(test_bytes_read_are_compared_if_all_runs_know_them)
{
	struct comparison comparison = { 0 };
	struct read_batches reads[2] = { 0 };
	struct sample a, b;
	uint64_t state = 13;
	int i;

	fill(&a, 500, 1, 0, &state);
	fill(&b, 500, 1, 0, &state);
	for (i = 0; i < 400; i++) {
		read_batches_add(&reads[0], 131072, 1000 * i, 0);
		read_batches_add(&reads[1], 4096, 1000 * i, 0);
	}
	a.side.runs[0].reads = &reads[0];
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	for (i = 0; i < (int)comparison.nr; i++)
		ck_assert_int_ne(comparison.rows[i].measure, COMPARISON_READ);
	b.side.runs[0].reads = &reads[1];
	comparison = (struct comparison){ 0 };
	comparison_add(&comparison, "all", &a.side, &b.side, ALL_PARTS);
	judge(&comparison, 0.05);
	ck_assert_int_eq(comparison.rows[1].measure, COMPARISON_READ);
	ck_assert_int_eq(comparison.rows[1].verdict, COMPARISON_CHANGE);
	ck_assert_double_eq_tol(comparison.rows[1].interval.difference, -31.0 / 32, TINY);
	ck_assert_str_eq(comparison_unit(&comparison.rows[1], false), "bytes");
}

/* The same rate, watched for 10 and for 20 seconds. */
TEST(test_rates_of_runs_of_different_length_are_the_same)
{
	struct comparison sums = { 0 }, rates = { 0 };
	struct sample a, b;
	uint64_t state = 14;

	fill(&a, 10000, 1, 0, &state);
	fill(&b, 20000, 1, 0, &state);
	fault_batches_end(&a.batches, 0, a.now_ns);
	fault_batches_end(&b.batches, 0, b.now_ns);
	comparison_add(&sums, "all", &a.side, &b.side, ALL_PARTS);
	judge(&sums, 0.05);
	ck_assert(sums.change);
	a.side.runs[0].seconds = a.now_ns / 1e9;
	b.side.runs[0].seconds = b.now_ns / 1e9;
	comparison_add(&rates, "all", &a.side, &b.side, ALL_PARTS);
	judge(&rates, 0.05);
	ck_assert(!rates.change);
	ck_assert_double_eq_tol(find(&rates, "all", "faults")->a.value, 1e9 / 105000, 100);
	ck_assert_str_eq(comparison_unit(find(&rates, "all", "faults"), true), "faults/s");
	ck_assert_str_eq(comparison_unit(find(&rates, "all", "whole"), true), "ns");
}

/* Faults in one burst are correlated: lognormal, 0.5 between bursts and 0.3 within. */
static void fill_bursts(struct sample *sample, size_t burst, double slower, uint64_t *state)
{
	double fate = 0;
	size_t i;

	sample_open(sample);
	for (i = 0; i < 20000; i++) {
		if (i % burst == 0)
			fate = exp(0.5 * normal(state));
		add(sample, slower * 1000 * fate * exp(0.3 * normal(state)), 0, false);
	}
}

static bool changed(const struct comparison_side *a, const struct comparison_side *b,
		    double threshold)
{
	struct comparison comparison = { 0 };

	comparison_add(&comparison, "all", a, b, COMPARISON_WHOLE);
	comparison_add(&comparison, "long", a, b, COMPARISON_WHOLE);
	judge(&comparison, threshold);
	return comparison.change;
}

static const size_t bursts[] = { 1, 50, 500, 700 };

#define NR_BURSTS   (sizeof(bursts) / sizeof(bursts[0]))
#define BURST_PAIRS 20

TEST(test_equal_bursty_runs_are_seldom_reported_as_changed)
{
	unsigned int pair, nr, nr_at_zero;
	struct sample a, b;
	uint64_t state = 15;
	size_t i;

	for (i = 0; i < NR_BURSTS; i++) {
		nr = 0;
		nr_at_zero = 0;
		for (pair = 0; pair < BURST_PAIRS; pair++) {
			fill_bursts(&a, bursts[i], 1, &state);
			fill_bursts(&b, bursts[i], 1, &state);
			nr += changed(&a.side, &b.side, 0.05);
			nr_at_zero += changed(&a.side, &b.side, 0);
		}
		ck_assert_msg(nr <= 1 && nr_at_zero <= 1, "bursts of %zu: %u and %u of %d",
			      bursts[i], nr, nr_at_zero, BURST_PAIRS);
	}
}

TEST(test_change_of_bursty_runs_is_found)
{
	static const size_t lengths[] = { 1, 50 };
	unsigned int pair, nr;
	struct sample a, b;
	uint64_t state = 16;
	size_t i;

	for (i = 0; i < 2; i++) {
		nr = 0;
		for (pair = 0; pair < BURST_PAIRS; pair++) {
			fill_bursts(&a, lengths[i], 1, &state);
			fill_bursts(&b, lengths[i], 1.2, &state);
			nr += changed(&a.side, &b.side, 0.05);
		}
		ck_assert_msg(nr >= BURST_PAIRS - 1, "bursts of %zu: %u", lengths[i], nr);
	}
}

#define RUNS 5

/* Runs also differ from each other: a relative deviation of 10 %. */
static void fill_runs(struct sample *samples, struct comparison_side *side, double slower,
		      uint64_t *state)
{
	size_t i;

	side->nr = RUNS;
	for (i = 0; i < RUNS; i++) {
		fill_bursts(&samples[i], 1, slower * exp(0.1 * normal(state)), state);
		side->runs[i] = samples[i].side.runs[0];
	}
}

TEST(test_several_runs_reveal_the_variation_between_runs)
{
	static struct sample a[RUNS], b[RUNS];
	struct comparison_side side_a, side_b;
	unsigned int pair, single = 0, equal = 0, found = 0;
	uint64_t state = 17;

	for (pair = 0; pair < BURST_PAIRS / 2; pair++) {
		fill_runs(a, &side_a, 1, &state);
		fill_runs(b, &side_b, 1, &state);
		single += changed(&a[0].side, &b[0].side, 0.05);
		equal += changed(&side_a, &side_b, 0.05);
		fill_runs(b, &side_b, 1.6, &state);
		found += changed(&side_a, &side_b, 0.05);
	}
	/* One run on each side cannot show this variation. Five runs can. */
	ck_assert_uint_ge(single, 3);
	ck_assert_uint_le(equal, 1);
	ck_assert_uint_ge(found, BURST_PAIRS / 2 - 1);
}
