// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handlers of userfaultfd for which faults waited, longest first, and the faults on the memory
 * of a guest. The figures come from the
 * report. Without such waits there is no table; an empty line follows it.
 */
#include <inttypes.h>

#include "analyze/handlers.h"
#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

void table_guest_line(FILE *out, const struct report *run)
{
	const struct evidence_figures *evidence = &run->evidence;

	if (evidence->guest_faults)
		fprintf(out, "On the memory of a guest (KVM): %" PRIu64 " faults, %.2f ms\n",
			evidence->guest_faults, evidence->guest_ns / 1e6);
}

static void handler_row_print(struct grid *grid, const struct report *run,
			      const struct handler_row *row)
{
	grid_row(grid);
	grid_cell(grid, "%s", row->pid ? row->name : "unknown");
	if (row->pid)
		cell_count(grid, row->pid);
	else
		grid_cell(grid, "n/a");
	cell_count(grid, row->pid ? row->threads : COUNT_NA);
	cell_count(grid, row->waits);
	cell_scaled(grid, row->total_ns / 1e6);
	cell_share(grid, view_share(row->total_ns, run->faults.all.whole.total_ns));
	cell_scaled(grid, row->queue_ns / 1e6);
	cell_scaled(grid, row->work_ns / 1e6);
	cell_scaled(grid, row->unread_ns / 1e6);
	cell_scaled(grid, row->waits ? row->total_ns / 1e3 / row->waits : 0);
	cell_scaled(grid, row->max_ns / 1e3);
}

int table_handlers(FILE *out, const struct report *run)
{
	static const char *const headings[] = {
		"<Process",  ">Pid",	 ">Threads",   ">Waits",   ">Total ms", ">Of all",
		">Queue ms", ">Work ms", ">Unread ms", ">Mean µs", ">Max µs",
	};
	const struct handlers_figures *handlers = &run->evidence.handlers;
	const struct handler_row *row = handlers->rows;
	struct grid grid;
	int err;

	if (!handlers->nr)
		return 0;
	fputs("Handlers of userfaultfd for which faults waited\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (; row < handlers->rows + handlers->nr; row++)
		handler_row_print(&grid, run, row);
	err = grid_close(&grid, out);
	fputc('\n', out);
	return err;
}
