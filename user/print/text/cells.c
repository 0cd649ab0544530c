// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells that several tables share: counts, shares, times. One function for each kind of number
 * keeps the format the same in all tables. NAN prints as a dash, COUNT_NA as n/a.
 */
#include <inttypes.h>
#include <math.h>

#include "print/text/cells.h"

void cell_count(struct grid *grid, uint64_t count)
{
	if (count == COUNT_NA)
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%" PRIu64, count);
}

void cell_scaled(struct grid *grid, double value)
{
	if (isnan(value))
		grid_cell(grid, "-");
	else
		grid_cell(grid, "%.*f", value < 9.995 ? 2 : 1, value);
}

void cell_share(struct grid *grid, double share)
{
	if (isnan(share))
		grid_cell(grid, "-");
	else if (share > 0 && share < 0.0005)
		grid_cell(grid, "<0.1%%");
	else
		grid_cell(grid, "%.1f%%", 100 * share);
}

void cell_spread(struct grid *grid, struct spread spread, bool fine)
{
	const int digits = fine && spread.stddev < 0.995 ? 2 : 1;

	if (isnan(spread.mean))
		grid_cell(grid, "-");
	else
		grid_cell(grid, "%.*f ± %.*f", digits, spread.mean, digits, spread.stddev);
}

void cells_print_figure(FILE *out, double value)
{
	const double size = fabs(value);

	/* %g has an exponent below 0.0001, and above the digits that it prints. */
	if (size > 0 && size < 0.001)
		fprintf(out, "%.6f", value);
	else
		fprintf(out, size < 999.5 ? "%.3g" : "%.0f", value);
}

const char *cells_group_name(char text[CELLS_GROUP_NAME], const struct group *group)
{
	const enum filesystem_kind kind = filesystem_kind(group->filesystem);
	char filesystem[FILESYSTEM_TEXT];

	if (kind != FILESYSTEM_SERVER && kind != FILESYSTEM_MEMORY)
		return group->name;
	snprintf(text, CELLS_GROUP_NAME, "%s, on %s", group->name,
		 filesystem_text(filesystem, group->filesystem));
	return text;
}

void cells_text(struct grid *grid, const char *text, unsigned int times)
{
	while (times--)
		grid_cell(grid, "%s", text);
}

void cells_times(struct grid *grid, const struct part_figures *figures, uint64_t count)
{
	if (!count) {
		cells_text(grid, "-", 4);
		return;
	}
	cell_scaled(grid, figures->total_ns / 1e3 / count);
	cell_scaled(grid, figures->p50_ns / 1e3);
	cell_scaled(grid, figures->p99_ns / 1e3);
	cell_scaled(grid, figures->max_ns / 1e3);
}
