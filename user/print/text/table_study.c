// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for file operation calls: the study's, with disk faults, short and long non-disk faults
 * and their sum, and the table by class. Also the line printed in place of a table that needs eBPF.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"
#include "util/text.h"

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
	/* The text comes from the recording, and no grid replaces control characters here. */
	utf8_print(out, run->bpf.missing[0] ? run->bpf.missing : "no eBPF");
	fputs(")\n", out);
}
