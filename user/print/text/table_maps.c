// SPDX-License-Identifier: GPL-2.0-only
/* Tables of mappings, and of the calls that shape them. */
#include <inttypes.h>
#include <sys/mman.h>

#include "model/call_kind.h"
#include "print/text/cells.h"
#include "print/text/table.h"
#include "print/text/table_measures.h"
#include "util/array.h"
#include "util/text.h"

/*
 * The memory map of a process, one line for each mapping. The maps come from the report's extras.
 */

#define WHAT_WIDTH 42

static void cell_kilobytes(struct grid *grid, uint64_t bytes)
{
	cell_count(grid, bytes == COUNT_NA ? COUNT_NA : bytes / 1024);
}

/* A separate row, for a hooked mapping. */
static void map_readahead_row(struct grid *grid, const struct map_line *line)
{
	static const char *const advices[] = MAPPING_ADVICE_NAMES;

	if (line->ra_pages == COUNT_NA)
		return;
	grid_row(grid);
	cells_text(grid, "", 6);
	grid_cell(grid, "%s, %" PRIu64 " KiB ahead, %" PRIu64 " misses",
		  line->advice_known ? advices[line->advice] : "n/a",
		  map_line_ra_bytes(line) / 1024, line->mmap_miss);
}

static void map_rows(struct grid *grid, const struct map_list *maps, const struct map_line *line)
{
	const char *rest;
	char text[4352];

	map_line_explain(line, maps, text, sizeof(text));
	grid_row(grid);
	grid_cell(grid, "%" PRIx64, line->start);
	grid_cell(grid, "%c%c%c%c", line->prot & PROT_READ ? 'r' : '-',
		  line->prot & PROT_WRITE ? 'w' : '-', line->prot & PROT_EXEC ? 'x' : '-',
		  line->shared ? 's' : 'p');
	cell_kilobytes(grid, line->end - line->start);
	cell_kilobytes(grid, line->resident);
	cell_kilobytes(grid, line->swapped);
	if (maps->hooks_known)
		grid_cell(grid, line->hooked ? "yes" : "-");
	else
		grid_cell(grid, "n/a");
	rest = grid_text(grid, WHAT_WIDTH, text);
	while (*rest) {
		grid_row(grid);
		cells_text(grid, "", 6);
		rest = grid_text(grid, WHAT_WIDTH, rest);
	}
	map_readahead_row(grid, line);
}

static void add(uint64_t *sum, uint64_t bytes)
{
	*sum = *sum == COUNT_NA || bytes == COUNT_NA ? COUNT_NA : *sum + bytes;
}

int table_maps(FILE *out, const struct map_list *maps)
{
	static const char *const headings[] = { "<Address", "<Rights", ">KiB",	      ">Resident",
						">Swapped", "<Hooked", "<Description" };
	uint64_t size = 0, resident = 0, swapped = 0;
	struct grid grid;
	size_t i;

	fprintf(out, "Memory map of process %d%s", maps->pid, maps->program[0] ? ", " : "");
	utf8_print(out, maps->program);
	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < maps->nr_lines; i++) {
		map_rows(&grid, maps, &maps->lines[i]);
		add(&size, maps->lines[i].end - maps->lines[i].start);
		add(&resident, maps->lines[i].resident);
		add(&swapped, maps->lines[i].swapped);
	}
	grid_row(&grid);
	grid_cell(&grid, "all");
	grid_cell(&grid, "%s", "");
	cell_kilobytes(&grid, size);
	cell_kilobytes(&grid, resident);
	cell_kilobytes(&grid, swapped);
	return grid_close(&grid, out);
}

/*
 * A table of the calls that shape mappings, by call, advice, file and caller. The rows come from
 * the report, ordered by the first calls.
 */

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

/* The price of memory that calls gave back. Prints nothing if it was not needed again. */
static int table_given_back(FILE *out, const struct report *run)
{
	static const char *const headings[] = {
		">MiB back", ">MiB again", ">Faults", ">Total ms",
		">a MiB",    ">ms a MiB",  "<Call",   "<Called by"
	};
	const double mib_pages = (1 << 20) / (double)run->environment.page_bytes;
	const struct shaping_call *sum;
	struct grid grid;
	char detail[256];
	size_t i;

	for (i = 0; i < run->calls.nr && !run->calls.rows[i].sum.again_faults; i++)
		;
	if (i == run->calls.nr)
		return 0;
	fputs("Anonymous memory that these calls gave back, and that was needed again\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (; i < run->calls.nr; i++) {
		sum = &run->calls.rows[i].sum;
		if (!sum->again_faults)
			continue;
		call_kind_print_detail(sum->kind, sum->detail, detail, sizeof(detail));
		grid_row(&grid);
		cell_scaled(&grid, sum->given_pages / mib_pages);
		cell_scaled(&grid, sum->again_pages / mib_pages);
		cell_count(&grid, sum->again_faults);
		cell_scaled(&grid, sum->again_ns / 1e6);
		cell_scaled(&grid, sum->again_faults * mib_pages / sum->given_pages);
		cell_scaled(&grid, sum->again_ns / 1e6 * mib_pages / sum->given_pages);
		grid_cell(&grid, "%s%s%s", call_kind_name(sum->kind), *detail ? " " : "", detail);
		grid_cell(&grid, "%s", run->calls.rows[i].caller);
	}
	return grid_close(&grid, out);
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
	if (!err)
		err = table_given_back(out, run);
	if (shown < calls->nr)
		fprintf(out, "Not shown: %zu more row%s\n", calls->nr - shown,
			calls->nr - shown == 1 ? "" : "s");
	if (calls->left_out)
		fprintf(out,
			"Not in a row: %" PRIu64 " calls, because there were too many callers\n",
			calls->left_out);
	return err;
}
