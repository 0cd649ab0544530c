// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the batches of two sides into rows of estimates, and judges which rows changed. The compare
 * command adds the runs and prints the rows. Only rows with enough faults on a side are judged,
 * and all judged intervals hold together with the requested confidence.
 */
#include <math.h>
#include <string.h>

#include "analyze/comparison.h"
#include "util/array.h"

const char *comparison_measure_name(const struct comparison_row *row)
{
	static const char *const parts[] = PART_NAMES;

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
	return row->part == NR_PARTS ? "whole" : parts[row->part];
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
		return estimate_sum(run->faults, BATCH_TIME + NR_PARTS, run->seconds);
	case COMPARISON_READ:
		return estimate_reads(run->reads, run->seconds);
	case COMPARISON_FAULTS:
		return estimate_sum(run->faults, BATCH_FAULTS, run->seconds);
	case COMPARISON_MAJOR:
		return estimate_sum(run->faults, BATCH_MAJOR, run->seconds);
	case COMPARISON_TIME:
		break;
	}
	return estimate_mean(run->faults, part);
}

static struct estimate side_estimate(const struct comparison_side *side,
				     const struct comparison_row *row)
{
	struct estimate runs[COMPARISON_MAX_RUNS];
	size_t i;

	for (i = 0; i < side->nr; i++)
		runs[i] = estimate_of(&side->runs[i], row->measure, row->part);
	return estimate_runs(runs, side->nr);
}

static void row_estimate(struct comparison_row *row, const struct comparison_side *a,
			 const struct comparison_side *b)
{
	row->a = side_estimate(a, row);
	row->b = side_estimate(b, row);
}

/* Too few only if both sides have few: none or few against many is certain. */
static void add_sum(struct comparison *comparison, const char *class,
		    enum comparison_measure measure, const struct comparison_side *a,
		    const struct comparison_side *b)
{
	const enum batch_sum sum = measure == COMPARISON_MAJOR ? BATCH_MAJOR : BATCH_FAULTS;
	struct comparison_row *row = add_row(comparison, class, measure);

	row_estimate(row, a, b);
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
	row_estimate(row, a, b);
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
	row_estimate(row, a, b);
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

/* A part that is 0 on both sides cannot differ. */
static bool to_be_judged(const struct comparison_row *row)
{
	return row->verdict == COMPARISON_SAME && (row->a.value > 0 || row->b.value > 0);
}

static void row_judge(struct comparison_row *row, double confidence, double threshold)
{
	struct interval *interval = &row->interval;

	*interval = interval_of(&row->a, &row->b, confidence);
	if (interval->difference != 0 && fabs(interval->difference) >= threshold &&
	    (interval->low > 0 || interval->high < 0))
		row->verdict = COMPARISON_CHANGE;
}

void comparison_judge(struct comparison *comparison, double confidence, double threshold)
{
	struct comparison_row *row;

	comparison->nr_judged = 0;
	comparison->change = false;
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		comparison->nr_judged += to_be_judged(row);
	comparison->confidence = 1 - (1 - confidence) / (comparison->nr_judged ?: 1);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!to_be_judged(row))
			continue;
		row_judge(row, comparison->confidence, threshold);
		comparison->change |= row->verdict == COMPARISON_CHANGE;
	}
}

const struct comparison_row *comparison_total(const struct comparison *comparison)
{
	const struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		if (row->measure == COMPARISON_TOTAL && !strcmp(row->class, "all"))
			return row;
	return NULL;
}
