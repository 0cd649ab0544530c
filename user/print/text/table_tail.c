// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time percentiles for whole faults. The figures come from the report. A percentile is n/a if a
 * class has too few faults for it.
 */
#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

static void cell_percentile(struct grid *grid, uint64_t ns)
{
	if (ns == COUNT_NA)
		grid_cell(grid, "n/a");
	else
		cell_scaled(grid, ns / 1e3);
}

static void percentiles_row(struct grid *grid, const char *name, const char *title,
			    const struct fault_figures *faults)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_title(grid, title);
	cell_count(grid, faults->count);
	cell_percentile(grid, faults->whole.p50_ns);
	cell_percentile(grid, faults->whole.p99_ns);
	cell_percentile(grid, faults->whole.p999_ns);
	cell_percentile(grid, faults->whole.p9999_ns);
	cell_percentile(grid, faults->whole.max_ns);
}

int table_tail_percentiles(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Class",    ">Faults",	   ">p50 µs", ">p99 µs",
						">p99.9 µs", ">p99.99 µs", ">Max µs" };
	enum fault_class class;
	struct grid grid;
	size_t i;

	if (!run->faults.all.count)
		return 0;
	fputs("Fault time percentiles\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_rows[i];
		if (run->faults.classes[class].count)
			percentiles_row(&grid, fault_class_name(class), fault_classes[class].title,
					&run->faults.classes[class]);
	}
	percentiles_row(&grid, "all", NULL, &run->faults.all);
	return grid_close(&grid, out);
}

static void tail_percentile(FILE *out, const char *name, uint64_t ns, unsigned int least)
{
	if (ns == COUNT_NA)
		fprintf(out, "%s n/a with fewer than %u faults, ", name, least);
	else
		fprintf(out, "%s %.1f µs, ", name, ns / 1e3);
}

void table_tail_line(FILE *out, const struct report *run)
{
	const struct part_figures *whole = &run->faults.all.whole;

	fputs("Tail: ", out);
	tail_percentile(out, "p99.9", whole->p999_ns, P999_LEAST);
	if (whole->p999_ns != COUNT_NA)
		tail_percentile(out, "p99.99", whole->p9999_ns, P9999_LEAST);
	fprintf(out, "longest %.1f µs; the longest faults: report --slowest 10\n",
		whole->max_ns / 1e3);
}
