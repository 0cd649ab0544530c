// SPDX-License-Identifier: GPL-2.0-only
/* Turns two sides' batches into rows of means with intervals, and judges which rows changed. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "compare/compare.h"
#include "util/array.h"
#include "util/statistics.h"

/*
 * Takes single-run estimates from batches.c, and gives comparison.c the interval for the ratio
 * between two sides. The interval and the difference test always agree.
 */

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

/*
 * Turns two sides' batches into rows of means, and judges which rows changed. The compare command
 * adds the runs and prints the rows. Only rows with enough faults on a side are judged. The
 * probability that any row is called a change for equal programs stays below the requested one.
 */

/* Share of the permitted error probability for the total time of all faults. */
#define TOTAL_WEIGHT 0.9

const char *comparison_measure_name(const struct comparison_row *row)
{
	switch (row->measure) {
	case COMPARISON_TOTAL:
		return "total";
	case COMPARISON_READ:
		return "read";
	case COMPARISON_FAULTS:
		return "faults";
	case COMPARISON_MAJOR:
		return "major";
	case COMPARISON_TIME:
		break;
	}
	return row->part == NR_PARTS ? "whole" : part_name(row->part);
}

const char *comparison_unit(const struct comparison_row *row, bool rates)
{
	switch (row->measure) {
	case COMPARISON_TOTAL:
		return rates ? "ns/s" : "ns";
	case COMPARISON_READ:
		return rates ? "bytes/s" : "bytes";
	case COMPARISON_FAULTS:
	case COMPARISON_MAJOR:
		return rates ? "faults/s" : "faults";
	case COMPARISON_TIME:
		break;
	}
	return "ns";
}

static struct comparison_row *add_row(struct comparison *comparison, const char *class,
				      enum comparison_measure measure)
{
	struct comparison_row *row = &comparison->rows[comparison->nr++];

	*row = (struct comparison_row){
		.class = class,
		.measure = measure,
		.part = NR_PARTS,
		.a = { .value = NAN },
		.b = { .value = NAN },
	};
	return row;
}

static uint64_t side_sum(const struct comparison_side *side, enum batch_sum sum)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < side->nr; i++)
		total += side->runs[i].faults->sums[sum];
	return total;
}

static uint64_t side_requests(const struct comparison_side *side)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < side->nr; i++)
		total += side->runs[i].reads->requests;
	return total;
}

static struct estimate estimate_of(const struct comparison_run *run,
				   enum comparison_measure measure, enum part part)
{
	switch (measure) {
	case COMPARISON_TOTAL:
		return batches_estimate_sum(run->faults, BATCH_TIME + NR_PARTS, run->seconds);
	case COMPARISON_READ:
		return batches_estimate_reads(run->reads, run->seconds);
	case COMPARISON_FAULTS:
		return batches_estimate_sum(run->faults, BATCH_FAULTS, run->seconds);
	case COMPARISON_MAJOR:
		return batches_estimate_sum(run->faults, BATCH_MAJOR, run->seconds);
	case COMPARISON_TIME:
		break;
	}
	return batches_estimate_mean(run->faults, part);
}

static struct run_mean side_mean(const struct comparison_side *side,
				 const struct comparison_row *row)
{
	struct estimate runs[COMPARISON_MAX_RUNS];
	size_t i;

	for (i = 0; i < side->nr; i++)
		runs[i] = estimate_of(&side->runs[i], row->measure, row->part);
	return run_mean_of(runs, side->nr);
}

static void row_fill(struct comparison_row *row, const struct comparison_side *a,
		     const struct comparison_side *b)
{
	row->a = side_mean(a, row);
	row->b = side_mean(b, row);
}

/* Too few only if both sides have few: none or few against many is certain. */
static void add_sum(struct comparison *comparison, const char *class,
		    enum comparison_measure measure, const struct comparison_side *a,
		    const struct comparison_side *b)
{
	const enum batch_sum sum = measure == COMPARISON_MAJOR ? BATCH_MAJOR : BATCH_FAULTS;
	struct comparison_row *row = add_row(comparison, class, measure);

	row_fill(row, a, b);
	if (side_sum(a, sum) < COMPARISON_FEW && side_sum(b, sum) < COMPARISON_FEW)
		row->verdict = COMPARISON_TOO_FEW;
}

static bool knows_reads(const struct comparison_side *side)
{
	size_t i;

	for (i = 0; i < side->nr; i++)
		if (!side->runs[i].reads)
			return false;
	return true;
}

static void add_reads(struct comparison *comparison, const char *class,
		      const struct comparison_side *a, const struct comparison_side *b)
{
	struct comparison_row *row;

	if (!knows_reads(a) || !knows_reads(b))
		return;
	row = add_row(comparison, class, COMPARISON_READ);
	row_fill(row, a, b);
	if (side_requests(a) < COMPARISON_FEW && side_requests(b) < COMPARISON_FEW)
		row->verdict = COMPARISON_TOO_FEW;
}

static void add_time(struct comparison *comparison, const char *class, enum part part,
		     const struct comparison_side *a, const struct comparison_side *b, bool known)
{
	struct comparison_row *row = add_row(comparison, class, COMPARISON_TIME);

	row->part = part;
	row->verdict = COMPARISON_UNKNOWN;
	if (!known)
		return;
	row_fill(row, a, b);
	row->verdict = side_sum(a, BATCH_FAULTS) < COMPARISON_FEW ||
				       side_sum(b, BATCH_FAULTS) < COMPARISON_FEW ?
			       COMPARISON_TOO_FEW :
			       COMPARISON_SAME;
}

void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known)
{
	enum part part;

	comparison->runs[0] = a->nr;
	comparison->runs[1] = b->nr;
	if (!side_sum(a, BATCH_FAULTS) && !side_sum(b, BATCH_FAULTS))
		return;
	if (known & COMPARISON_WHOLE)
		add_sum(comparison, class, COMPARISON_TOTAL, a, b);
	else
		add_row(comparison, class, COMPARISON_TOTAL)->verdict = COMPARISON_UNKNOWN;
	add_reads(comparison, class, a, b);
	add_sum(comparison, class, COMPARISON_FAULTS, a, b);
	if (side_sum(a, BATCH_MAJOR) || side_sum(b, BATCH_MAJOR))
		add_sum(comparison, class, COMPARISON_MAJOR, a, b);
	add_time(comparison, class, NR_PARTS, a, b, known & COMPARISON_WHOLE);
	for (part = 0; part < NR_PARTS; part++)
		add_time(comparison, class, part, a, b, known & 1U << part);
}

void comparison_add_unknown(struct comparison *comparison, const char *class)
{
	static const enum comparison_measure measures[] = { COMPARISON_TOTAL, COMPARISON_FAULTS,
							    COMPARISON_TIME };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(measures); i++)
		add_row(comparison, class, measures[i])->verdict = COMPARISON_UNKNOWN;
}

/* A part with 0 on both sides cannot differ. */
static bool can_change(const struct comparison_row *row)
{
	return row->verdict == COMPARISON_SAME && (row->a.value > 0 || row->b.value > 0);
}

/* @of: the runs with the figure, among @runs */
static bool shows_too_little(const struct run_mean *of, size_t runs)
{
	return of->nr < 2 && runs > 1;
}

static void leave_unjudged(struct comparison *comparison, enum comparison_verdict verdict)
{
	struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (row->verdict != COMPARISON_SAME)
			continue;
		row->verdict = verdict;
		row->interval.difference = batches_interval_relative(row->a.value, row->b.value);
	}
}

/* A class that occurs in one run shows no variation, although the side has more runs. */
static void drop_single_means(struct comparison *comparison)
{
	struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		if (can_change(row) && (shows_too_little(&row->a, comparison->runs[0]) ||
					shows_too_little(&row->b, comparison->runs[1])))
			row->verdict = COMPARISON_TOO_FEW;
}

/* An interval without any end allows every difference. */
static void drop_endless_rows(struct comparison *comparison)
{
	struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!row->confidence || row->interval.low > -1 || !isinf(row->interval.high))
			continue;
		row->verdict = COMPARISON_TOO_FEW;
		row->confidence = 0;
		comparison->nr_judged--;
	}
}

static double weight_of(const struct comparison *comparison, const struct comparison_row *row,
			const struct comparison_row *total)
{
	return row == total ? TOTAL_WEIGHT : (1 - TOTAL_WEIGHT) / comparison->nr_judged;
}

/* @open: rows that do not differ so far. Returns false if no further row differs. */
static bool judge_step(struct comparison *comparison, const struct comparison_rules *rules,
		       bool *open, const struct comparison_row *total)
{
	struct comparison_row *row;
	double weights = 0, weight;
	bool any = false;
	size_t i;

	for (i = 0; i < comparison->nr; i++)
		weights += open[i] ? weight_of(comparison, &comparison->rows[i], total) : 0;
	for (i = 0; i < comparison->nr; i++) {
		row = &comparison->rows[i];
		if (!open[i])
			continue;
		weight = weight_of(comparison, row, total);
		row->confidence = 1 - (1 - rules->confidence) * weight / weights;
		row->interval = run_mean_interval(&row->a, &row->b, row->confidence);
		if (row->interval.low <= 0 && row->interval.high >= 0)
			continue;
		open[i] = false;
		any = true;
	}
	return any;
}

static void judge_rows(struct comparison *comparison, const struct comparison_rules *rules)
{
	const struct comparison_row *total = comparison_total(comparison);
	const double threshold = rules->threshold + comparison->lost;
	bool open[COMPARISON_MAX_ROWS] = { false };
	struct comparison_row *row;
	size_t i;

	for (i = 0; i < comparison->nr; i++) {
		open[i] = can_change(&comparison->rows[i]);
		comparison->nr_judged += open[i];
	}
	while (judge_step(comparison, rules, open, total))
		;
	for (i = 0; i < comparison->nr; i++) {
		row = &comparison->rows[i];
		if (!row->confidence || open[i] || row->interval.difference == 0 ||
		    fabs(row->interval.difference) < threshold)
			continue;
		row->verdict = COMPARISON_CHANGE;
		comparison->change = true;
	}
	drop_endless_rows(comparison);
}

void comparison_judge(struct comparison *comparison, const struct comparison_rules *rules)
{
	const bool single = comparison->runs[0] <= 1 && comparison->runs[1] <= 1;

	comparison->nr_judged = 0;
	comparison->change = false;
	comparison->lost = rules->lost[0] + rules->lost[1];
	comparison->incomplete = fmax(rules->lost[0], rules->lost[1]) > rules->threshold;
	comparison->not_judged = single && !rules->single && !comparison->incomplete;
	drop_single_means(comparison);
	if (comparison->incomplete)
		leave_unjudged(comparison, COMPARISON_INCOMPLETE);
	else if (comparison->not_judged)
		leave_unjudged(comparison, COMPARISON_NOT_JUDGED);
	else
		judge_rows(comparison, rules);
}

const struct comparison_row *comparison_total(const struct comparison *comparison)
{
	const struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		if (row->measure == COMPARISON_TOTAL && !strcmp(row->class, "all"))
			return row;
	return NULL;
}
