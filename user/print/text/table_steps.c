// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive's steps as a table, with the kernel's counts for each step. The figures come from the
 * report. Several runs give means and standard deviations.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

#define MIB (1024.0 * 1024)

static const char *const names[NR_STEPS] = STEP_NAMES;

static const char *const headings[] = { "<Step",    ">ms",	">MiB/s", ">minflt", ">majflt",
					">inblock", ">oublock", ">nvcsw", ">nivcsw" };

enum column { COLUMN_MS, COLUMN_RATE, COLUMN_COUNTS, NR_COLUMNS = ARRAY_SIZE(headings) - 1 };

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

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (step = 0; step < NR_STEPS; step++) {
		figures = &run->drive.steps[step];
		if (!figures->made)
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", names[step]);
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

int table_steps_spread(FILE *out, const struct view *views, size_t nr)
{
	double *values = calloc(nr, sizeof(*values));
	unsigned int column;
	struct grid grid;
	enum step step;
	size_t i;

	if (!values)
		return -ENOMEM;
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (step = 0; step < NR_STEPS; step++) {
		if (!views[0].run->drive.steps[step].made)
			continue;
		grid_row(&grid);
		grid_cell(&grid, "%s", names[step]);
		for (column = 0; column < NR_COLUMNS; column++) {
			for (i = 0; i < nr; i++)
				values[i] = phase_value(&views[i].run->drive.steps[step], column);
			cell_spread(&grid, view_spread(values, nr), column < COLUMN_COUNTS);
		}
	}
	free(values);
	return grid_close(&grid, out);
}
