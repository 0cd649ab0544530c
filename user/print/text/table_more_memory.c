// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which faults on reclaimed pages would not have occurred with more memory: three sizes of the
 * curve that the report has, and the swap-ins that the curve does not have.
 */
#include <inttypes.h>
#include <math.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "report/more_memory.h"
#include "report/view.h"
#include "util/array.h"

/* With these digits, or as a whole number if it has more: never with an exponent. */
static const char *range_figure(char *text, size_t size, double value, int digits)
{
	if (value < pow(10, digits) - 0.5)
		snprintf(text, size, "%.*g", digits, value);
	else
		snprintf(text, size, "%.0f", value);
	return text;
}

static void range_cell(struct grid *grid, double least, double most, const char *unit)
{
	/* Beside a number with four digits, the smaller one is whole too. */
	const int digits = most < 1000 ? 2 : 0;
	char low[32], high[32];

	if (round(least * 10) == round(most * 10))
		grid_cell(grid, "%s%s", range_figure(high, sizeof(high), most, 3), unit);
	else
		grid_cell(grid, "%s to %s%s", range_figure(low, sizeof(low), least, digits),
			  range_figure(high, sizeof(high), most, digits), unit);
}

static void more_memory_row(struct grid *grid, const struct report *run,
			    const struct memory_curve_point *point)
{
	const double ms = run->pages.evictions.curve.figures.total_ns / 1e6;

	grid_row(grid);
	grid_cell(grid, "%.1f MiB", ceil(10 * more_memory_mib(run, point)) / 10);
	range_cell(grid, 100 * point->least.faults, 100 * point->most.faults, " %");
	range_cell(grid, ms * point->least.total_ns, ms * point->most.total_ns, "");
}

static void state_swap_ins(FILE *out, const struct report *run)
{
	const uint64_t unknown = run->pages.evictions.swaps.unknown;

	if (!view_has_hook(run, HOOK_SWAP_OUT) && run->faults.classes[FAULT_SWAP].major)
		fputs("Swap-ins are not in this table: it was not recorded which pages were "
		      "swapped out.\n",
		      out);
	else if (unknown)
		fprintf(out,
			"%" PRIu64 " swap-in%s not in this table: the page left before the "
			"recording or by MADV_PAGEOUT, or processes share it since a fork.\n",
			unknown, unknown == 1 ? " is" : "s are");
}

int table_more_memory(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">More memory", ">Faults avoided", ">Their ms" };
	static const double shares[] = { 0.25, 0.5, 1 };
	const struct memory_curve_figures *figures = &run->pages.evictions.curve.figures;
	const uint64_t swap_ins = run->pages.evictions.swaps.faults;
	const struct memory_curve_point *point, *last = NULL;
	const double ms = figures->total_ns / 1e6;
	struct grid grid;
	size_t i;
	int err;

	if (!run->pages.evictions.curve.nr_points)
		return 0;
	fprintf(out, "More memory would avoid, of %" PRIu64 " faults on reclaimed pages in ",
		figures->faults);
	cells_print_figure(out, ms);
	fputs(" ms", out);
	if (swap_ins)
		fprintf(out, ", %" PRIu64 " of them swap-ins", swap_ins);
	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		point = more_memory_for(run, shares[i]);
		if (point && point != last)
			more_memory_row(&grid, run, point);
		if (point)
			last = point;
	}
	err = grid_close(&grid, out);
	if (more_memory_is_shared(run))
		fputs("Processes without such faults reclaimed some of these pages: their own "
		      "pages may need part of this memory.\n",
		      out);
	state_swap_ins(out, run);
	if (figures->one_of > 1)
		fprintf(out, "Estimated from one of %" PRIu64 " pages, %" PRIu64 " in all.\n",
			figures->one_of, figures->sampled);
	fputc('\n', out);
	return err;
}
