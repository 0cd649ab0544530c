// SPDX-License-Identifier: GPL-2.0-only
/* For people: what it was measured under, then the figures. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "printers.h"
#include "table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const study_headings[] = {
	"<", ">Disk faults", ">Non-disk short", ">Non-disk long", ">All faults"
};

/* Two digits at least, three where the study would have printed 0.1. */
static void cell_scaled(struct grid *grid, double value)
{
	if (isnan(value))
		grid_cell(grid, "-");
	else
		grid_cell(grid, "%.*f", value < 9.995 ? 2 : 1, value);
}

static void cell_share(struct grid *grid, double share)
{
	if (isnan(share))
		grid_cell(grid, "-");
	else if (share > 0 && share < 0.0005)
		grid_cell(grid, "<0.1%%");
	else
		grid_cell(grid, "%.1f%%", 100 * share);
}

int table_study(FILE *out, const struct view *view)
{
	const uint64_t all = view->study[STUDY_ALL].count;
	enum study_column column;
	struct grid grid;

	grid_open(&grid, study_headings, COUNT(study_headings));
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
		      const struct class_figures *figures)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_cell(grid, "%" PRIu64, figures->count);
	cell_share(grid, view_share(figures->count, view->every.count));
	cell_scaled(grid, view_mean_ns(figures) / 1e3);
	cell_scaled(grid, figures->count ? figures->p50_ns / 1e3 : NAN);
	cell_scaled(grid, figures->count ? figures->p99_ns / 1e3 : NAN);
	cell_scaled(grid, figures->count ? figures->max_ns / 1e3 : NAN);
	cell_scaled(grid, figures->total_ns / 1e6);
	if (!view->run->have_bpf)
		grid_cell(grid, "n/a");
	else
		cell_share(grid, view_share(figures->off_cpu_ns, figures->total_ns));
}

static int table_classes(FILE *out, const struct view *view)
{
	static const char *const headings[] = {
		"<Class", ">Calls", ">Share", ">Mean µs", ">p50 µs", ">p99 µs", ">Max µs",
		">Total ms", ">Off the CPU"
	};
	enum pfstat_class class;
	struct grid grid;

	grid_open(&grid, headings, COUNT(headings));
	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		if (view->figures.classes[class].count)
			class_row(&grid, view, view_class_name(class),
				  &view->figures.classes[class]);
	class_row(&grid, view, "all calls", &view->every);
	return grid_close(&grid, out);
}

static int table_counts(FILE *out, const struct view *view)
{
	static const char *const headings[] = {
		">Pages touched", ">Faults", ">Major", ">minflt", ">majflt", ">nvcsw", ">nivcsw",
		">Off-CPU stays", ">Records lost"
	};
	const struct rusage *rusage = &view->run->rusage;
	struct grid grid;

	grid_open(&grid, headings, COUNT(headings));
	grid_row(&grid);
	grid_cell(&grid, "%" PRIu64, view->run->pages_touched);
	grid_cell(&grid, "%" PRIu64, view->figures.faults);
	grid_cell(&grid, "%" PRIu64, view->figures.major);
	grid_cell(&grid, "%ld", rusage->ru_minflt);
	grid_cell(&grid, "%ld", rusage->ru_majflt);
	grid_cell(&grid, "%ld", rusage->ru_nvcsw);
	grid_cell(&grid, "%ld", rusage->ru_nivcsw);
	if (view->run->have_bpf)
		grid_cell(&grid, "%" PRIu64, view->run->off_cpu_count);
	else
		grid_cell(&grid, "n/a");
	grid_cell(&grid, "%" PRIu64, view->run->lost);
	return grid_close(&grid, out);
}

static const char *explanation(const struct difference *difference)
{
	if (difference->why[0])
		return difference->why;
	return view_unexplained(difference) ? "unexplained" : "they agree";
}

static void difference_rows(struct grid *grid, const struct difference *difference)
{
	const char *what = difference->what, *why = explanation(difference);
	const int64_t amount = difference->amount;

	grid_row(grid);
	what = grid_text(grid, 36, what);
	grid_cell(grid, amount ? "%+" PRId64 : "%" PRId64, amount);
	why = grid_text(grid, 48, why);
	while (*what || *why) {
		grid_row(grid);
		what = grid_text(grid, 36, what);
		grid_cell(grid, "%s", "");
		why = grid_text(grid, 48, why);
	}
}

static int table_differences(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Difference", ">Amount", "<Explanation" };
	struct grid grid;
	size_t i;

	if (!run->nr_differences)
		return 0;
	fputc('\n', out);
	grid_open(&grid, headings, COUNT(headings));
	for (i = 0; i < run->nr_differences; i++)
		difference_rows(&grid, &run->differences[i]);
	return grid_close(&grid, out);
}

static void syscall_row(struct grid *grid, const struct syscall_row *row)
{
	char *name = view_syscall_name(row->number);
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

static int table_syscalls(FILE *out, const struct report *run)
{
	static const char *const headings[] = {
		"<System call", "<Result", ">Count", ">Mean µs", ">Total ms"
	};
	struct grid grid;
	size_t i;

	if (!run->have_bpf) {
		fprintf(out, "System calls and off-CPU times: n/a (%s)\n",
			run->bpf_missing ? run->bpf_missing : "no eBPF");
		return 0;
	}
	if (!run->nr_syscalls) {
		fputs("System calls: none\n", out);
		return 0;
	}
	grid_open(&grid, headings, COUNT(headings));
	for (i = 0; i < run->nr_syscalls; i++)
		syscall_row(&grid, &run->syscalls[i]);
	return grid_close(&grid, out);
}

static int table_run(FILE *out, const struct view *view)
{
	int err;

	err = table_study(out, view);
	fputc('\n', out);
	if (!err)
		err = table_classes(out, view);
	fputc('\n', out);
	if (!err)
		err = table_counts(out, view);
	if (!err)
		err = table_differences(out, view->run);
	fputc('\n', out);
	if (!err)
		err = table_syscalls(out, view->run);
	return err;
}

int table_print(FILE *out, const struct view *views, size_t nr)
{
	size_t i;
	int err;

	for (i = 0; i < nr; i++)
		table_warnings(out, &views[i], nr > 1 ? i + 1 : 0);
	err = table_environment(out, views[0].run);
	fputc('\n', out);
	if (err)
		return err;
	return nr == 1 ? table_run(out, &views[0]) : table_repeats(out, views, nr);
}
