// SPDX-License-Identifier: GPL-2.0-only
/* Tables of a drive: steps, calls as in the study, and several runs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/text/cells.h"
#include "print/text/table.h"
#include "print/text/table_measures.h"
#include "util/array.h"
#include "util/text.h"

/*
 * A drive's steps as a table, with the kernel's counts for each step. The figures come from the
 * report. Several runs give means and standard deviations.
 */

#define MIB (1024.0 * 1024)

static const char *const step_names[NR_STEPS] = STEP_NAMES;

static const char *const step_headings[] = { "<Step",	 ">ms",	     ">MiB/s", ">minflt", ">majflt",
					     ">inblock", ">oublock", ">nvcsw", ">nivcsw" };

enum column { COLUMN_MS, COLUMN_RATE, COLUMN_COUNTS, NR_COLUMNS = ARRAY_SIZE(step_headings) - 1 };

bool table_steps_exist(const struct report *run)
{
	return run->drive.steps[STEP_POPULATE].made || run->drive.steps[STEP_MEMSET].made ||
	       (run->drive.steps[STEP_ACCESS].made && run->environment.store_share > 0);
}

static double phase_rate(const struct step_figures *step)
{
	if (step->bytes == COUNT_NA || !step->elapsed_ns)
		return NAN;
	return step->bytes / MIB / (step->elapsed_ns / 1e9);
}

/* Returns the counts in column order. */
static uint64_t phase_count(const struct step_figures *step, unsigned int column)
{
	const uint64_t counts[] = { step->usage.minflt,	 step->usage.majflt, step->usage.inblock,
				    step->usage.oublock, step->usage.nvcsw,  step->usage.nivcsw };

	return counts[column - COLUMN_COUNTS];
}

int table_steps(FILE *out, const struct report *run)
{
	const struct step_figures *figures;
	unsigned int column;
	struct grid grid;
	enum step step;

	grid_open(&grid, step_headings, ARRAY_SIZE(step_headings));
	for (step = 0; step < NR_STEPS; step++) {
		figures = &run->drive.steps[step];
		if (!figures->made)
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", step_names[step]);
		cell_scaled(&grid, figures->elapsed_ns / 1e6);
		cell_scaled(&grid, phase_rate(figures));
		for (column = COLUMN_COUNTS; column < NR_COLUMNS; column++)
			cell_count(&grid, phase_count(figures, column));
	}
	return grid_close(&grid, out);
}

static double phase_value(const struct step_figures *step, unsigned int column)
{
	if (column == COLUMN_MS)
		return step->elapsed_ns / 1e6;
	return column == COLUMN_RATE ? phase_rate(step) : phase_count(step, column);
}

/* For several runs with the same steps: mean ± standard deviation. */
static int table_steps_spread(FILE *out, const struct view *views, size_t nr)
{
	double *values = calloc(nr, sizeof(*values));
	unsigned int column;
	struct grid grid;
	enum step step;
	size_t i;

	if (!values)
		return -ENOMEM;
	grid_open(&grid, step_headings, ARRAY_SIZE(step_headings));
	for (step = 0; step < NR_STEPS; step++) {
		if (!views[0].run->drive.steps[step].made)
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", step_names[step]);
		for (column = 0; column < NR_COLUMNS; column++) {
			for (i = 0; i < nr; i++)
				values[i] = phase_value(&views[i].run->drive.steps[step], column);
			cell_spread(&grid, view_spread(values, nr), column < COLUMN_COUNTS);
		}
	}
	free(values);
	return grid_close(&grid, out);
}

/*
 * Tables for file operation calls: the study's, with disk faults, short and long non-disk faults
 * and their sum, and the table by class. Also the line printed in place of a table that needs eBPF.
 */

/* Prints a line in place of the table if perf is the source, and returns true. */
static bool table_no_calls(FILE *out, const struct report *run, const char *what)
{
	if (!view_source_is_perf(run))
		return false;
	fprintf(out, "%s: n/a (perf reports whole faults)\n", what);
	return true;
}

static const char *const study_headings[] = { "<", ">Disk faults", ">Non-disk short",
					      ">Non-disk long", ">All faults" };

int table_study(FILE *out, const struct view *view)
{
	const uint64_t all = view->study[STUDY_ALL].count;
	enum study_column column;
	struct grid grid;

	if (table_no_calls(out, view->run, "Disk, short and long faults"))
		return 0;
	grid_open(&grid, study_headings, ARRAY_SIZE(study_headings));
	grid_row(&grid);
	grid_cell(&grid, "Count");
	for (column = 0; column < STUDY_NR_COLUMNS; column++)
		grid_cell(&grid, "%" PRIu64, view->study[column].count);
	grid_row(&grid);
	grid_cell(&grid, "Percentage");
	for (column = 0; column < STUDY_NR_COLUMNS; column++)
		cell_share(&grid, view_share(view->study[column].count, all));
	grid_row(&grid);
	grid_cell(&grid, "Average fault cost (µs)");
	for (column = 0; column < STUDY_NR_COLUMNS; column++)
		cell_scaled(&grid, view_mean_ns(&view->study[column]) / 1e3);
	grid_row(&grid);
	grid_cell(&grid, "Total fault cost (ms)");
	for (column = 0; column < STUDY_NR_COLUMNS; column++)
		cell_scaled(&grid, view->study[column].total_ns / 1e6);
	return grid_close(&grid, out);
}

static void class_row(struct grid *grid, const struct view *view, const char *name,
		      const char *title, const struct class_figures *figures)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_title(grid, title);
	grid_cell(grid, "%" PRIu64, figures->count);
	cell_share(grid, view_share(figures->count, view->every.count));
	cell_scaled(grid, view_mean_ns(figures) / 1e3);
	cell_scaled(grid, figures->count ? figures->p50_ns / 1e3 : NAN);
	cell_scaled(grid, figures->count ? figures->p99_ns / 1e3 : NAN);
	cell_scaled(grid, figures->count ? figures->max_ns / 1e3 : NAN);
	cell_scaled(grid, figures->total_ns / 1e6);
	if (!view->run->bpf.known)
		grid_cell(grid, "n/a");
	else
		cell_share(grid, view_share(figures->off_cpu_ns, figures->total_ns));
}

int table_classes(FILE *out, const struct view *view)
{
	static const char *const headings[] = { "<Class",   ">Calls",	 ">Share",
						">Mean µs", ">p50 µs",	 ">p99 µs",
						">Max µs",  ">Total ms", ">Off-CPU" };
	enum pfstat_class class;
	struct grid grid;

	if (table_no_calls(out, view->run, "File operation calls"))
		return 0;
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		if (view->figures.classes[class].count)
			class_row(&grid, view, fault_class_name((enum fault_class) class),
				  fault_classes[class].title, &view->figures.classes[class]);
	class_row(&grid, view, "all calls", NULL, &view->every);
	return grid_close(&grid, out);
}

void table_no_bpf(FILE *out, const struct report *run, const char *what)
{
	fprintf(out, "%s: n/a (", what);
	/* The text comes from the recording, and no grid replaces control characters here. */
	utf8_print(out, run->bpf.missing[0] ? run->bpf.missing : "no eBPF");
	fputs(")\n", out);
}

/*
 * Several runs of one drive as a table: one line for each run, then mean and standard deviation.
 * view.c computes all figures.
 */

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
