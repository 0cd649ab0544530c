// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/print/bench_scale.h"
#include "util/table_grid.h"

#define FAMILY "scale."

static bool is_shown(const struct bench_row *row)
{
	return !strncmp(row->name, FAMILY, strlen(FAMILY)) && bench_row_measured(row);
}

static bool any_shown(const struct bench_results *results)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (is_shown(&results->rows[i]))
			return true;
	return false;
}

/* The row's figure is the time from the start to the end of all, by the number of faults. */
static void print_row(struct grid *grid, const struct bench_row *row)
{
	const double wall_ns = row->figures.mean;
	const bool watched = row->seen.operations && !row->seen.missing[0];
	const double share = watched ? row->seen.mmap_lock_share : NAN;

	grid_row(grid);
	grid_cell(grid, "%s", row->operation->name);
	grid_cell(grid, "%s", row->point_name);
	grid_cell(grid, "%.0f", 1e9 / wall_ns);
	grid_cell(grid, "%.0f", wall_ns * strtoul(row->point_name, NULL, 10));
	if (isnan(share))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.1f%%", 100 * share);
}

int print_scale(FILE *out, const struct bench_results *results)
{
	static const char *const headings[] = {
		"<Faults of", ">Threads", ">Faults/s", ">ns a fault, of a thread",
		">Fell back to mmap_lock"
	};
	struct grid grid;
	size_t i;

	if (!any_shown(results))
		return 0;
	fputs("\nFaults by several threads at once\n", out);
	grid_open(&grid, headings, sizeof(headings) / sizeof(*headings));
	for (i = 0; i < results->nr; i++)
		if (is_shown(&results->rows[i]))
			print_row(&grid, &results->rows[i]);
	return grid_close(&grid, out);
}
