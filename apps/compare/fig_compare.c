// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws a comparison: each measure as the ratio B to A with a confidence interval. The rows come
 * from a judged comparison. The verdict's sentence also covers rows that are not drawn.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_print.h"
#include "figures/drawing.h"
#include "report/view.h"

/* A logarithmic axis has no 0, so these ratios are the ends of the axis. */
#define LEAST 0.01
#define MOST  100.0

/* A measure with 0 on both sides cannot differ. */
static bool can_differ(const struct comparison_row *row)
{
	return (row->verdict == COMPARISON_SAME || row->verdict == COMPARISON_CHANGE) &&
	       (row->a.value > 0 || row->b.value > 0);
}

/*
 * Draws totals, counts and mean times for each class, and the parts for all faults. The table has
 * the other rows.
 */
static bool is_drawn(const struct comparison_row *row)
{
	return can_differ(row) && (row->measure != COMPARISON_TIME || row->part == NR_PARTS ||
				   !strcmp(row->class, "all"));
}

static double fig_compare_times_of(double relative)
{
	return fmin(fmax(1 + relative, LEAST), MOST);
}

static size_t count_drawn(const struct comparison *comparison)
{
	size_t i, nr = 0;

	for (i = 0; i < comparison->nr; i++)
		nr += is_drawn(&comparison->rows[i]);
	return nr;
}

static void fig_compare_write_data(struct drawing *drawing, const struct comparison *comparison,
				   size_t rows)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	const struct comparison_row *row;

	fputs("row,class,measure,times,low_times,high_times,change\n", csv);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		if (is_drawn(row))
			fprintf(csv, "%zu,%s,%s,%.6f,%.6f,%.6f,%d\n", rows--, row->class,
				comparison_measure_name(row),
				fig_compare_times_of(row->interval.difference),
				fig_compare_times_of(row->interval.low),
				fig_compare_times_of(row->interval.high),
				row->verdict == COMPARISON_CHANGE);
}

static const char *fig_compare_name_of(const struct comparison_row *row)
{
	switch (row->measure) {
	case COMPARISON_TOTAL:
		return "total time";
	case COMPARISON_READ:
		return "bytes read";
	case COMPARISON_FAULTS:
		return "number";
	case COMPARISON_MAJOR:
		return "major faults";
	default:
		return row->part == NR_PARTS ? "mean time" : part_title(row->part);
	}
}

static const char *fig_compare_class_of(const struct comparison_row *row)
{
	const enum fault_class class = fault_class_find(row->class);

	return class < NR_FAULT_CLASSES ? fault_classes[class].title : "all faults";
}

/* For a sentence: words, and the table's short names. */
static void fig_compare_describe(const struct comparison_row *row, char *text, size_t size)
{
	const bool all = fault_class_find(row->class) == NR_FAULT_CLASSES;
	const bool part = row->measure == COMPARISON_TIME && row->part < NR_PARTS;

	snprintf(text, size, "%s%s%s%s, %s%s%s%s", fig_compare_class_of(row), all ? "" : " (",
		 all ? "" : row->class, all ? "" : ")", fig_compare_name_of(row), part ? " (" : "",
		 part ? part_name(row->part) : "", part ? ")" : "");
}

static void fig_compare_write_labels(FILE *script, const struct comparison *comparison, size_t rows)
{
	const struct comparison_row *row;
	const char *separator = "";

	fputs("set ytics scale 0 (", script);
	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!is_drawn(row))
			continue;
		fprintf(script, "%s'%s: %s' %zu", separator, fig_compare_class_of(row),
			fig_compare_name_of(row), rows--);
		separator = ", ";
	}
	fputs(")\n", script);
}

/* The axis covers all intervals, equality and the threshold, and 10 % at least. */
static void fig_compare_write_axis(FILE *script, const struct comparison *comparison,
				   double threshold)
{
	double low = fmin(1 / 1.1, fmax(1 - threshold, LEAST)), high = fmax(1.1, 1 + threshold);
	const struct comparison_row *row;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++) {
		if (!is_drawn(row))
			continue;
		low = fmin(low, fig_compare_times_of(row->interval.low));
		high = fmax(high, fig_compare_times_of(row->interval.high));
	}
	axes_ratio(script, low / 1.05, high * 1.05);
}

static void fig_compare_write_script(struct drawing *drawing, const struct compare_report *report,
				     size_t rows)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const double threshold = report->threshold / 100;
	unsigned int i;

	drawing_key(drawing, "no change");
	drawing_key(drawing, "change");
	drawing_key(drawing, "measured");
	drawing_script_begin(drawing, 90 + 24 * rows);
	fprintf(script,
		"set xlabel 'B, compared with A'\nunset grid\nset yrange [0.2:%zu.8]\n"
		/*
		 * The range of ratios below the threshold. They are not a change, however certain.
		 */
		"set arrow from 1,graph 0 to 1,graph 1 nohead lc rgb '#%06x'\n"
		"set arrow from %g,graph 0 to %g,graph 1 nohead dt (4,4) lc rgb '#%06x'\n"
		"set arrow from %g,graph 0 to %g,graph 1 nohead dt (4,4) lc rgb '#%06x'\n",
		rows, COLOUR_GREY, 1 + threshold, 1 + threshold, COLOUR_GREY,
		fmax(1 - threshold, LEAST), fmax(1 - threshold, LEAST), COLOUR_GREY);
	fig_compare_write_axis(script, report->comparison, threshold);
	fig_compare_write_labels(script, report->comparison, rows);
	/* At least 1 % wide, to be visible. */
	for (i = 0; i < 2; i++)
		fprintf(script,
			"%s'comparison.csv' skip 1 using 4:($7 == %u ? $1 : NaN):($5*0.995):"
			"($6*1.005):($1-%s):($1+%s) \\\n\twith boxxyerror fc rgb '#%06x' title "
			"'%s', \\\n",
			i ? "\t" : "plot ", i, i ? "0.3" : "0.15", i ? "0.3" : "0.15",
			i ? COLOUR_VERMILLION : COLOUR_SKY, i ? "change" : "no change");
	fprintf(script,
		"\t'comparison.csv' skip 1 using 4:1 with points pt 7 ps 0.5 "
		"lc rgb '#%06x' title 'measured'\n",
		COLOUR_BLACK);
	drawing_script_end(drawing);
}

/* Considers all rows, also those shown only in the table. */
static const struct comparison_row *largest_change(const struct comparison *comparison)
{
	const struct comparison_row *row, *largest = NULL;

	for (row = comparison->rows; row < comparison->rows + comparison->nr; row++)
		if (row->verdict == COMPARISON_CHANGE &&
		    (!largest ||
		     fabs(log(fig_compare_times_of(row->interval.difference))) >
			     fabs(log(fig_compare_times_of(largest->interval.difference)))))
			largest = row;
	return largest;
}

static void say_side(struct drawing *drawing, const char *name, const struct compare_side *side)
{
	uint64_t faults = 0;
	size_t i;

	for (i = 0; i < side->nr; i++)
		faults += side->runs[i].faults;
	if (side->nr == 1)
		drawing_say(drawing, DRAWING_READING, "%s is %s with %" PRIu64 " faults. ", name,
			    side->runs[0].file, faults);
	else
		drawing_say(drawing, DRAWING_READING,
			    "%s has %zu recordings, with %" PRIu64 " faults in total. ", name,
			    side->nr, faults);
}

static void say_largest(struct drawing *drawing, const struct compare_report *report)
{
	const struct comparison_row *row = largest_change(report->comparison);

	char what[160];

	if (!row) {
		drawing_say(drawing, DRAWING_READING, "No change is %g %% or more.",
			    report->threshold);
		return;
	}
	fig_compare_describe(row, what, sizeof(what));
	if (isinf(row->interval.difference))
		drawing_say(drawing, DRAWING_READING,
			    "The largest change: %s, of which A has none.", what);
	else
		drawing_say(drawing, DRAWING_READING,
			    "The largest change: %s, %+.1f %% (from %+.1f %% to %+.1f %%).", what,
			    100 * row->interval.difference, 100 * row->interval.low,
			    100 * row->interval.high);
}

static void fig_compare_write_caption(struct drawing *drawing, const struct compare_report *report,
				      const char *sentence, size_t rows)
{
	const struct comparison *comparison = report->comparison;

	drawing_say(drawing, DRAWING_READING, "%s ", sentence);
	say_side(drawing, "A", &report->a);
	say_side(drawing, "B", &report->b);
	say_largest(drawing, report);
	drawing_say(drawing, DRAWING_AMOUNT,
		    "%zu of %zu differences. With %g %% confidence no row of equal programs is a "
		    "change%s. Differences below ÷100 and beyond ×100 are drawn at the edge.",
		    rows, comparison->nr_judged, report->confidence,
		    compare_print_condition(report));
	drawing_say(drawing, DRAWING_ALT,
		    "One bar per measure: the B/A ratio, from the lower to the upper end of its "
		    "interval.");
}

static const char *fig_compare_why_none(const struct comparison *comparison)
{
	if (comparison->incomplete)
		return "nothing is judged, because a recording is incomplete";
	if (comparison->not_judged)
		return "one run on each side does not show how much runs differ";
	return "the runs have too few faults to compare";
}

int fig_compare_draw(struct drawing *drawing, const struct compare_report *report,
		     const char *sentence)
{
	const size_t rows = count_drawn(report->comparison);
	int err = drawing_begin(drawing, "comparison", "Differences between the two runs");

	if (err)
		return err;
	if (rows) {
		fig_compare_write_caption(drawing, report, sentence, rows);
		fig_compare_write_data(drawing, report->comparison, rows);
		fig_compare_write_script(drawing, report, rows);
	} else {
		drawing_say(drawing, DRAWING_MISSING, "%s",
			    fig_compare_why_none(report->comparison));
	}
	return drawing_end(drawing);
}
