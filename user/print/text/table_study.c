// SPDX-License-Identifier: GPL-2.0-only
/*
 * The study's table of one run: disk faults, short and long non-disk faults and their sum, from
 * the view's columns. And the line that stands in place of a table that needs eBPF.
 */
#include <inttypes.h>
#include <stdio.h>

#include "print/text/table.h"
#include "print/text/table_cells.h"
#include "util/array.h"
#include "util/utf8.h"

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

bool table_no_calls(FILE *out, const struct report *run, const char *what)
{
	if (!view_source_is_perf(run))
		return false;
	fprintf(out, "%s: n/a (perf reports whole faults)\n", what);
	return true;
}

void table_no_bpf(FILE *out, const struct report *run, const char *what)
{
	fprintf(out, "%s: n/a (", what);
	/* The text comes from the recording, and no grid replaces its control characters here. */
	utf8_print(out, run->bpf.missing[0] ? run->bpf.missing : "no eBPF");
	fputs(")\n", out);
}
