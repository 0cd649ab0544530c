// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>

#include "comparison.h"

/*
 * Replicates: at least so many, and so that about OUTSIDE of them lie beyond each
 * end of an interval, whose ends would be no more than the extremes else.
 */
#define MIN_REPLICATES 1000
#define OUTSIDE 5
#define MAX_REPLICATES 50000

const char *comparison_measure_name(const struct comparison_row *row)
{
	static const char *const parts[] = PART_NAMES;

	switch (row->measure) {
	case COMPARISON_FAULTS:
		return "faults";
	case COMPARISON_MAJOR:
		return "major";
	case COMPARISON_TIME:
		break;
	}
	return row->part == NR_PARTS ? "whole" : parts[row->part];
}

static struct comparison_row *add_row(struct comparison *comparison, const char *class,
				      enum comparison_measure measure)
{
	struct comparison_row *row = &comparison->rows[comparison->nr++];

	*row = (struct comparison_row){ .class = class, .measure = measure };
	return row;
}

static void add_count(struct comparison *comparison, const char *class,
		      enum comparison_measure measure, uint64_t a, uint64_t b)
{
	struct comparison_row *row = add_row(comparison, class, measure);

	row->a = a;
	row->b = b;
	/* None against many is certain, and so is few against many. */
	if (a < BOOTSTRAP_FEW && b < BOOTSTRAP_FEW)
		row->verdict = COMPARISON_FEW;
}

static void add_time(struct comparison *comparison, const char *class, enum part part,
		     const struct comparison_side *a, const struct comparison_side *b, bool known)
{
	struct comparison_row *row = add_row(comparison, class, COMPARISON_TIME);

	row->part = part;
	row->times_a = &a->times[part];
	row->times_b = &b->times[part];
	row->a = known && a->count ? bootstrap_mean(row->times_a) : NAN;
	row->b = known && b->count ? bootstrap_mean(row->times_b) : NAN;
	if (!known)
		row->verdict = COMPARISON_UNKNOWN;
	else if (a->count < BOOTSTRAP_FEW || b->count < BOOTSTRAP_FEW)
		row->verdict = COMPARISON_FEW;
}

void comparison_add(struct comparison *comparison, const char *class,
		    const struct comparison_side *a, const struct comparison_side *b,
		    unsigned int known)
{
	enum part part;

	if (!a->count && !b->count)
		return;
	add_count(comparison, class, COMPARISON_FAULTS, a->count, b->count);
	if (a->major || b->major)
		add_count(comparison, class, COMPARISON_MAJOR, a->major, b->major);
	add_time(comparison, class, NR_PARTS, a, b, true);
	for (part = 0; part < NR_PARTS; part++)
		add_time(comparison, class, part, a, b, known & 1U << part);
}

void comparison_add_unknown(struct comparison *comparison, const char *class)
{
	struct comparison_row *row;

	row = add_row(comparison, class, COMPARISON_FAULTS);
	row->a = NAN;
	row->b = NAN;
	row->verdict = COMPARISON_UNKNOWN;
	row = add_row(comparison, class, COMPARISON_TIME);
	row->part = NR_PARTS;
	row->a = NAN;
	row->b = NAN;
	row->verdict = COMPARISON_UNKNOWN;
}

/* Of rows that cannot differ, as a part that is 0 in both, there is nothing to judge. */
static bool to_be_judged(const struct comparison_row *row)
{
	return row->verdict == COMPARISON_SAME && (row->a > 0 || row->b > 0);
}

/* Where there is no row to judge, nothing is shared out. */
static struct bootstrap how_for(size_t nr_rows, double confidence, uint64_t seed)
{
	struct bootstrap how = {
		.confidence = 1 - (1 - confidence) / (nr_rows ?: 1), .seed = seed,
	};
	const double replicates = ceil(OUTSIDE * 2 / (1 - how.confidence));

	how.replicates = replicates < MIN_REPLICATES ? MIN_REPLICATES :
			 replicates > MAX_REPLICATES ? MAX_REPLICATES : replicates;
	return how;
}

static int judge(struct comparison_row *row, const struct bootstrap *how, double threshold)
{
	struct bootstrap_interval *interval = &row->interval;
	int err;

	if (row->measure == COMPARISON_TIME)
		err = bootstrap_means(how, row->times_a, row->times_b, interval);
	else
		err = bootstrap_counts(how, row->a, row->b, interval);
	if (err)
		return err;
	if (interval->difference != 0 && fabs(interval->difference) >= threshold &&
	    (interval->low > 0 || interval->high < 0))
		row->verdict = COMPARISON_CHANGE;
	return 0;
}

int comparison_judge(struct comparison *comparison, double confidence, double threshold,
		     uint64_t seed, const volatile sig_atomic_t *stop)
{
	struct comparison_row *row;
	int err;

	comparison->nr_judged = 0;
	comparison->change = false;
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		comparison->nr_judged += to_be_judged(row);
	comparison->how = how_for(comparison->nr_judged, confidence, seed);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!to_be_judged(row))
			continue;
		if (*stop)
			return -EINTR;
		err = judge(row, &comparison->how, threshold);
		if (err)
			return err;
		comparison->change |= row->verdict == COMPARISON_CHANGE;
	}
	return 0;
}
