// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several runs of one drive as a table: one line for each run, then mean and standard deviation.
 * view.c computes all figures.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "print/text/table_measures.h"
#include "util/array.h"

enum row { ROW_COUNT, ROW_PERCENT, ROW_MEAN, ROW_TOTAL, NR_ROWS };

static double figure_of(const struct view *view, enum row row, enum study_column column)
{
	const struct class_figures *figures = &view->study[column];

	switch (row) {
	case ROW_COUNT:
		return figures->count;
	case ROW_PERCENT:
		return 100 * view_share(figures->count, view->study[STUDY_ALL].count);
	case ROW_MEAN:
		return view_mean_ns(figures) / 1e3;
	default:
		return figures->total_ns / 1e6;
	}
}

static int table_spread(FILE *out, const struct view *views, size_t nr)
{
	static const char *const names[NR_ROWS] = { "Count", "Percentage",
						    "Average fault cost (µs)",
						    "Total fault cost (ms)" };
	static const char *const headings[] = { "<", ">Disk faults", ">Non-disk short",
						">Non-disk long", ">All faults" };
	double *values = calloc(nr, sizeof(*values));
	enum study_column column;
	struct grid grid;
	enum row row;
	size_t i;

	if (!values)
		return -ENOMEM;
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (row = 0; row < NR_ROWS; row++) {
		grid_row(&grid);
		grid_cell(&grid, "%s", names[row]);
		for (column = 0; column < STUDY_NR_COLUMNS; column++) {
			for (i = 0; i < nr; i++)
				values[i] = figure_of(&views[i], row, column);
			cell_spread(&grid, view_spread(values, nr), row != ROW_COUNT);
		}
	}
	free(values);
	return grid_close(&grid, out);
}

static int table_repeat(FILE *out, const struct view *view, size_t number, size_t nr)
{
	const struct report *run = view->run;
	const uint64_t unexplained = run->ledger.unexplained;

	fprintf(out,
		"Run %zu of %zu: %.3f ms; logical faults %" PRIu64 ", minflt %" PRIu64
		", majflt %" PRIu64,
		number, nr, run->time.elapsed_ns / 1e6, view->figures.faults, run->usage.minflt,
		run->usage.majflt);
	if (unexplained)
		fprintf(out, "; %" PRIu64 " UNEXPLAINED", unexplained);
	fputc('\n', out);
	return table_study(out, view);
}

int table_repeats(FILE *out, const struct view *views, size_t nr)
{
	size_t i;
	int err;

	for (i = 0; i < nr; i++) {
		err = table_repeat(out, &views[i], i + 1, nr);
		if (err)
			return err;
		fputc('\n', out);
	}
	fprintf(out, "Mean ± standard deviation of %zu runs\n", nr);
	if (table_steps_exist(views[0].run)) {
		err = table_steps_spread(out, views, nr);
		if (err)
			return err;
		fputc('\n', out);
	}
	err = table_spread(out, views, nr);
	return err ? err : table_measures_of_runs(out, views, nr);
}
