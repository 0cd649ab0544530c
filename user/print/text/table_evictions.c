// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table with the processes whose pages were evicted and faulted again later, by evicting process.
 * The pairs come from the report, most pages first.
 */
#include <inttypes.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

static void pair_row(struct grid *grid, const struct evictions_pair *pair)
{
	static const char *const reasons[EVICTIONS_NR_REASONS] = {
		[EVICTIONS_UNKNOWN] = "n/a",
		[EVICTIONS_RECLAIMED] = "reclaimed",
		[EVICTIONS_DROPPED] = "dropped",
	};

	grid_row(grid);
	cell_count(grid, pair->pages);
	cell_count(grid, pair->faults);
	cell_scaled(grid, pair->total_ns / 1e6);
	grid_cell(grid, "%s", reasons[pair->reason]);
	if (pair->victim)
		grid_cell(grid, "%" PRIu32, pair->victim);
	else
		grid_cell(grid, EVICTIONS_OTHERS);
	if (evictions_is_itself(pair))
		grid_cell(grid, "itself");
	else if (evictions_is_others(pair))
		grid_cell(grid, EVICTIONS_OTHERS);
	else
		grid_cell(grid, "%s (%" PRIu32 ")", pair->evictor_name, pair->evictor);
}

static void evictions_left_out_line(FILE *out, const struct report *run, size_t rows)
{
	uint64_t pages = 0, faults = 0;
	size_t i;

	for (i = rows; i < run->pages.nr_pairs; i++) {
		pages += run->pages.pairs[i].pages;
		faults += run->pages.pairs[i].faults;
	}
	if (rows < run->pages.nr_pairs)
		fprintf(out,
			"Not shown: %zu more rows, with %" PRIu64 " pages and %" PRIu64 " faults\n",
			run->pages.nr_pairs - rows, pages, faults);
}

static void not_followed_line(FILE *out, const struct report *run)
{
	if (run->pages.evictions.overflow)
		fprintf(out,
			"Not tracked: %" PRIu64
			" evicted pages, because the memory for them was used up\n",
			run->pages.evictions.overflow);
	if (run->pages.untracked != COUNT_NA && run->pages.untracked)
		fprintf(out,
			"Not tracked: the pages of %" PRIu64
			" requests, for files beyond eBPF's limit\n",
			run->pages.untracked);
}

int table_evictions(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">Pages", ">Faults",  ">Total ms",
						"<Why",	  ">Process", "<Evicted by" };
	const size_t nr = run->pages.nr_pairs;
	const size_t rows = run->top && run->top < nr ? run->top : nr;
	struct grid grid;
	size_t i;
	int err;

	if (view_lacks_evictions(run)) {
		fputs("Pages evicted and read again: n/a\n", out);
		return 0;
	}
	if (!run->pages.nr_pairs) {
		fprintf(out, "Pages evicted and read again: none of %" PRIu64 " evicted\n",
			run->pages.evictions.evicted - run->pages.evictions.overflow);
		not_followed_line(out, run);
		return 0;
	}
	fprintf(out, "Pages evicted and read again, of %" PRIu64 " evicted\n",
		run->pages.evictions.evicted);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < rows; i++)
		pair_row(&grid, &run->pages.pairs[i]);
	err = grid_close(&grid, out);
	evictions_left_out_line(out, run, rows);
	not_followed_line(out, run);
	return err;
}
