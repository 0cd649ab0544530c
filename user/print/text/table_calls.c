// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of the calls that shape mappings, by call, advice, file and caller. The rows come from
 * the report, ordered by the first calls.
 */
#include <inttypes.h>

#include "model/call_kind.h"
#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

static void call_row(struct grid *grid, const struct report_call *row)
{
	const char *name = call_kind_name(row->sum.kind);
	char detail[256];

	call_kind_print_detail(row->sum.kind, row->sum.detail, detail, sizeof(detail));
	grid_row(grid);
	cell_count(grid, row->sum.count);
	cell_count(grid, row->sum.failed);
	cell_count(grid, row->sum.bytes / 1024);
	cell_scaled(grid, row->sum.total_ns / 1e6);
	grid_cell(grid, "%s%s%s", name, *detail ? " " : "", detail);
	grid_cell(grid, "%s", row->caller);
	grid_cell(grid, "%s", row->file);
}

/* Page-table entries and tables copied by forks. Prints nothing without a fork. */
static void table_forks(FILE *out, const struct report *run)
{
	uint64_t forks = 0, counted = 0, pages = 0, table_bytes = 0;
	const struct shaping_call *sum;
	size_t i;

	for (i = 0; i < run->calls.nr; i++) {
		sum = &run->calls.rows[i].sum;
		forks += sum->forks;
		counted += sum->forks_counted;
		pages += sum->fork_pages;
		table_bytes += sum->fork_table_bytes;
	}
	if (!forks)
		return;
	fprintf(out, "Copied by %" PRIu64 " fork%s: ", forks, forks == 1 ? "" : "s");
	if (counted == forks)
		fprintf(out, "the entries of %" PRIu64 " pages (%" PRIu64 " MiB), ", pages,
			pages * run->environment.page_bytes >> 20);
	fprintf(out, "page tables of %" PRIu64 " KiB\n", table_bytes >> 10);
}

int table_calls(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">Calls", ">Failed",	">KiB", ">Total ms",
						"<Call",  "<Called by", "<File" };
	const struct report_calls *calls = &run->calls;
	const size_t shown = run->top && run->top < calls->nr ? run->top : calls->nr;
	const bool known = run->bpf.known && !view_source_is_perf(run);
	struct grid grid;
	size_t i;
	int err;

	if (!known || !calls->nr) {
		fprintf(out, "Calls that shape mappings: %s\n", known ? "none" : "n/a");
		return 0;
	}
	fputs("Calls that shape mappings, by first call\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < shown; i++)
		call_row(&grid, &calls->rows[i]);
	err = grid_close(&grid, out);
	table_forks(out, run);
	if (shown < calls->nr)
		fprintf(out, "Not shown: %zu more row%s\n", calls->nr - shown,
			calls->nr - shown == 1 ? "" : "s");
	if (calls->left_out)
		fprintf(out,
			"Not in a row: %" PRIu64 " calls, because there were too many callers\n",
			calls->left_out);
	return err;
}
