// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints views of runs as text: first the environment, then the figures. Each section is in a
 * separate file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/printers.h"
#include "print/text/table.h"
#include "print/text/cells.h"
#include "print/text/table_measures.h"
#include "util/array.h"
#include "util/text.h"

static int table_counts(FILE *out, const struct view *view)
{
	static const char *const headings[] = {
		">Pages touched", ">Faults", ">Major",	       ">minflt",      ">majflt",
		">nvcsw",	  ">nivcsw", ">Off-CPU count", ">Records lost"
	};
	const struct usage *rusage = &view->run->usage;
	const bool by_perf = view_source_is_perf(view->run);
	/* Only a drive knows the pages it touches. */
	const bool drive = view_is_drive(view->run);
	struct grid grid;

	grid_open(&grid, headings + !drive, ARRAY_SIZE(headings) - !drive);
	grid_row(&grid);
	if (drive)
		cell_count(&grid, view->run->drive.pages_touched);
	cell_count(&grid, by_perf ? view->run->faults.all.count : view->figures.faults);
	cell_count(&grid, by_perf ? view->run->faults.all.major : view->figures.major);
	cell_count(&grid, rusage->minflt);
	cell_count(&grid, rusage->majflt);
	cell_count(&grid, rusage->nvcsw);
	cell_count(&grid, rusage->nivcsw);
	cell_count(&grid, view->run->bpf.off_cpu_count);
	cell_count(&grid, view->run->losses.records);
	return grid_close(&grid, out);
}

static void syscall_row(struct grid *grid, const struct report *run, const struct syscall_row *row)
{
	char *name = view_syscall_name(run, row->number);
	const char *error = strerrorname_np(row->error);

	grid_row(grid);
	if (name)
		grid_cell(grid, "%s", name);
	else
		grid_cell(grid, "%" PRIu32, row->number);
	if (!row->error)
		grid_cell(grid, "ok");
	else if (error)
		grid_cell(grid, "%s", error);
	else
		grid_cell(grid, "errno %" PRIu32, row->error);
	grid_cell(grid, "%" PRIu64, (uint64_t)row->value.count);
	cell_scaled(grid, view_share(row->value.total_ns, row->value.count) / 1e3);
	cell_scaled(grid, row->value.total_ns / 1e6);
	free(name);
}

static void left_out_syscalls(FILE *out, const struct report_syscalls *syscalls, size_t nr_rows)
{
	uint64_t count = 0, total_ns = 0;
	size_t i;

	for (i = nr_rows; i < syscalls->nr; i++) {
		count += syscalls->rows[i].value.count;
		total_ns += syscalls->rows[i].value.total_ns;
	}
	if (nr_rows < syscalls->nr)
		fprintf(out, "Not shown: %zu more rows, with %" PRIu64 " calls and %.2f ms\n",
			syscalls->nr - nr_rows, count, total_ns / 1e6);
}

static int table_syscalls(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<System call", "<Result", ">Count", ">Mean µs",
						">Total ms" };
	const size_t nr_rows = run->top && run->top < run->syscalls.nr ? run->top :
									 run->syscalls.nr;
	struct grid grid;
	size_t i;
	int err;

	if (!run->bpf.known) {
		table_no_bpf(out, run, "System calls and off-CPU times");
		return 0;
	}
	if (!run->bpf.have_counts) {
		fputs("System calls: n/a\n", out);
		return 0;
	}
	if (!run->syscalls.nr) {
		fputs("System calls: none\n", out);
		return 0;
	}
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < nr_rows; i++)
		syscall_row(&grid, run, &run->syscalls.rows[i]);
	err = grid_close(&grid, out);
	left_out_syscalls(out, &run->syscalls, nr_rows);
	return err;
}

int table_wrapped(FILE *out, const struct report *run,
		  void (*print)(FILE *out, const struct report *run))
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	print(memory, run);
	err = fclose(memory) ? -ENOMEM : 0;
	if (!err)
		wrap_text(out, text, grid_width());
	free(text);
	return err;
}

/* The tables with figures requiring eBPF. */
static int table_system(FILE *out, const struct report *run)
{
	int err = 0;

	if (run->bpf.known) {
		err = table_waits(out, run);
		fputc('\n', out);
		if (!err)
			err = table_handlers(out, run);
		if (!err)
			err = table_parts_requests(out, run);
		fputc('\n', out);
		if (!err)
			err = table_parts_readahead(out, run);
		fputc('\n', out);
		if (!err)
			err = table_evictions(out, run);
		fputc('\n', out);
		if (!err)
			err = table_more_memory(out, run);
	}
	if (!err)
		err = table_syscalls(out, run);
	fputc('\n', out);
	return err ? err : table_calls(out, run);
}

int table_run(FILE *out, const struct view *view)
{
	int err = 0;

	if (table_steps_exist(view->run)) {
		err = table_steps(out, view->run);
		fputc('\n', out);
	}
	if (!err)
		err = table_study(out, view);
	fputc('\n', out);
	if (!err)
		err = table_classes(out, view);
	fputc('\n', out);
	if (!err)
		err = table_parts(out, view);
	fputc('\n', out);
	if (!err && view->run->faults.all.count) {
		err = table_tail_percentiles(out, view->run);
		fputc('\n', out);
	}
	if (!err && view->run->groups.wanted) {
		err = table_groups(out, view);
		fputc('\n', out);
	}
	if (!err)
		err = table_counts(out, view);
	table_cost(out, view->run);
	fputc('\n', out);
	if (!err)
		err = table_ledger(out, &view->run->ledger);
	fputc('\n', out);
	if (!err)
		err = table_system(out, view->run);
	return err ? err : table_measures(out, view->run);
}

static int table_of_one(FILE *out, const struct view *view)
{
	return view->run->full ? table_run(out, view) : table_short_run(out, view);
}

static int table_tail(FILE *out, const struct view *view)
{
	int err = table_tail_percentiles(out, view->run);

	if (view->run->faults.all.count)
		fputc('\n', out);
	return err ?: table_slowest(out, view, grid_width());
}

int table_print(FILE *out, const struct view *views, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr; i++)
		table_warnings(out, &views[i], nr > 1 ? i + 1 : 0);
	if (nr == 1 && views[0].run->slowest.wanted)
		return table_tail(out, &views[0]);
	if (nr == 1) {
		err = table_verdict(out, &views[0]);
		fputc('\n', out);
		err = err ? err : table_short_where(out, &views[0]);
		fputc('\n', out);
	}
	err = err ? err : table_environment(out, views[0].run);
	fputc('\n', out);
	if (err)
		return err;
	err = nr == 1 ? table_of_one(out, &views[0]) : table_repeats(out, views, nr);
	if (err || !views[0].run->extras.study)
		return err;
	fputc('\n', out);
	return views[0].run->extras.study->print_table(out, views, nr);
}
