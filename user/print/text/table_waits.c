// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel stacks with which threads slept in faults, longest first, with the lock, the journal
 * or the server that they show. The rows come from the report.
 */
#include <inttypes.h>
#include <string.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

#define SHORT_ROWS    3
#define SHORT_COLUMNS 60
#define SMALL_WAIT    0.01 /* of the faults' time, omitted in the short report */
#define FULL_COLUMNS  54

void table_waits_functions(char *text, size_t size, const char *functions)
{
	size_t length, used = 0;

	text[0] = '\0';
	for (; *functions; functions += length + (functions[length] == '<')) {
		length = strcspn(functions, "<");
		if (used + length + sizeof(" <  < ...") > size && used) {
			snprintf(text + used, size - used, " < ...");
			return;
		}
		used += snprintf(text + used, size - used, "%s%.*s", used ? " < " : "", (int)length,
				 functions);
		if (used >= size)
			return;
	}
}

static void waits_unknown_line(FILE *out, const struct report *run)
{
	if (run->waits.unknown_ns)
		fprintf(out, "Slept %.2f ms in foreign and blocked without a known kernel stack\n",
			run->waits.unknown_ns / 1e6);
}

void table_waits_short(FILE *out, const struct report *run)
{
	const uint64_t whole_ns = run->faults.all.whole.total_ns;
	char functions[SHORT_COLUMNS];
	const struct wait_row *row;
	size_t i;

	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return;
	for (i = 0; i < run->waits.nr && i < SHORT_ROWS; i++) {
		row = &run->waits.rows[i];
		if (row->total_ns < SMALL_WAIT * whole_ns)
			break;
		table_waits_functions(functions, sizeof(functions), row->functions);
		fprintf(out, "Slept %.2f ms, %" PRIu64 " time%s, ", row->total_ns / 1e6,
			row->sleeps, row->sleeps == 1 ? "" : "s");
		if (row->cause)
			fprintf(out, "for %s: %s\n", row->cause, functions);
		else
			fprintf(out, "in %s\n", functions);
	}
	if (run->waits.unknown_ns >= SMALL_WAIT * whole_ns)
		waits_unknown_line(out, run);
}

/* The functions have separate rows, below the cause. */
static void wait_row_print(struct grid *grid, const struct report *run, const struct wait_row *row)
{
	char functions[2 * PFSTAT_WAIT_BYTES];
	const char *rest;

	table_waits_functions(functions, sizeof(functions), row->functions);
	grid_row(grid);
	cell_count(grid, row->sleeps);
	cell_scaled(grid, row->total_ns / 1e6);
	cell_share(grid, view_share(row->total_ns, run->faults.all.whole.total_ns));
	cell_scaled(grid, row->total_ns / 1e3 / row->sleeps);
	cell_scaled(grid, row->max_ns / 1e3);
	grid_cell(grid, "%s", row->cause ?: "unknown");
	for (rest = functions; *rest;) {
		grid_row(grid);
		cells_text(grid, "", 5);
		rest = grid_text(grid, FULL_COLUMNS, rest);
	}
}

int table_waits(FILE *out, const struct report *run)
{
	static const char *const headings[] = { ">Sleeps",  ">Total ms", ">Of all",
						">Mean µs", ">Max µs",	 "<For, by stack" };
	const size_t nr = run->waits.nr;
	const size_t rows = run->top && run->top < nr ? run->top : nr;
	struct grid grid;
	size_t i;
	int err;

	if (!view_has_hook(run, HOOK_WAIT_STACK)) {
		fputs("Sleeps in faults by kernel stack: n/a\n", out);
		return 0;
	}
	if (!nr) {
		fputs("Sleeps in faults that no block request explains: none with a stack\n", out);
		waits_unknown_line(out, run);
		return 0;
	}
	fputs("Sleeps in faults that no block request explains\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < rows; i++)
		wait_row_print(&grid, run, &run->waits.rows[i]);
	err = grid_close(&grid, out);
	if (rows < nr)
		fprintf(out, "Not shown: %zu more kernel stacks\n", nr - rows);
	waits_unknown_line(out, run);
	return err;
}
