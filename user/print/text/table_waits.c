// SPDX-License-Identifier: GPL-2.0-only
/* Tables and lines about waits in faults: kernel stacks, mmap_lock, handlers of userfaultfd. */
#include <inttypes.h>
#include <string.h>

#include "analyze/handlers.h"
#include "print/text/cells.h"
#include "print/text/table.h"
#include "util/array.h"

/*
 * The kernel stacks with which threads slept in faults, longest first, with the lock, the journal
 * or the server that they show. The rows come from the report.
 */

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
		fprintf(out, "Slept %.2f ms in %s without a known kernel stack\n",
			run->waits.unknown_ns / 1e6,
			view_source_is_perf(run) ? "asleep" : "foreign and blocked");
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

/*
 * Lines about sleeps for mmap_lock, and the threads that passed the lock on. A fault mostly waits
 * for the lock before its start. The figures come from the report.
 */

#define SMALL_LOCK 0.01 /* of the faults' time, omitted in the short report */

static void lock_waker_line(FILE *out, const struct report *run, const struct lock_waker_row *row)
{
	char name[VIEW_WAKER], call[VIEW_WAKER];

	fprintf(out, "  %.2f ms until ", row->total_ns / 1e6);
	if (row->doing == PFSTAT_WAKER_KILL) {
		fputs("a signal ended the waiting thread\n", out);
		return;
	}
	fprintf(out, "%s passed it on", view_waker_name(name, row));
	if (row->doing == PFSTAT_WAKER_EXCEPTION)
		fputs(", in no system call", out);
	else if (view_waker_call(call, run, row->doing)[0])
		fprintf(out, " in %s", call);
	fputc('\n', out);
}

void table_lock_notes(FILE *out, const struct report *run)
{
	const uint64_t least_ns = run->full ? 0 : SMALL_LOCK * run->faults.all.whole.total_ns;
	const struct report_mmap_lock *lock = &run->mmap_lock;
	size_t i;

	if (!lock->sleeps || lock->total_ns < least_ns)
		return;
	fprintf(out, "Slept %.2f ms for mmap_lock, %" PRIu64 " time%s", lock->total_ns / 1e6,
		lock->sleeps, lock->sleeps == 1 ? "" : "s");
	if (lock->total_ns > lock->in_faults_ns && !view_source_is_perf(run))
		fprintf(out, "; %.2f ms of it before the faults, not in their time",
			(lock->total_ns - lock->in_faults_ns) / 1e6);
	fputc('\n', out);
	for (i = 0; i < lock->nr && (run->full || i < SHORT_ROWS); i++)
		if (lock->rows[i].total_ns >= least_ns)
			lock_waker_line(out, run, &lock->rows[i]);
}

/*
 * The handlers of userfaultfd for which faults waited, longest first, and the faults on the memory
 * of a guest. The figures come from the report. Without such waits there is no table; an empty line
 * follows it.
 */

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
