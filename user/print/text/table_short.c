// SPDX-License-Identifier: GPL-2.0-only
/*
 * The short report: the places with most of the fault time, and one line for each kind of figure
 * that is not empty. The full report's tables are in the other files in this folder.
 */
#include <inttypes.h>
#include <math.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "print/text/table_measures.h"
#include "util/array.h"

#define KIB (1024.0)
#define MIB (1024.0 * 1024)

#define ROWS_EACH     3
#define OTHER_COLUMNS 56 /* of the table, beside the names */
#define LEAST_NAME    16

static size_t name_width(void)
{
	const size_t width = grid_width();

	return width > OTHER_COLUMNS + LEAST_NAME ? width - OTHER_COLUMNS : LEAST_NAME;
}

static void where_cells(struct grid *grid, const struct view *view, const char *what,
			uint64_t faults, uint64_t total_ns, const uint64_t parts_ns[NR_PARTS])
{
	const struct report *run = view->run;
	enum part part, longest = 0;

	for (part = 0; part < NR_PARTS; part++)
		if (parts_ns[part] > parts_ns[longest])
			longest = part;
	grid_row(grid);
	grid_cell(grid, "%s", what);
	cell_scaled(grid, total_ns / 1e6);
	cell_share(grid, view_share(total_ns, run->faults.all.whole.total_ns));
	cell_count(grid, faults);
	cell_scaled(grid, view_share(total_ns, faults) / 1e3);
	if (!run->faults.parts_known || !view_part_known(run, longest) || !total_ns) {
		grid_cell(grid, "n/a");
	} else {
		grid_cell(grid, "%s %.0f%%", part_name(longest),
			  100 * view_share(parts_ns[longest], total_ns));
		grid_title(grid, part_title(longest));
	}
}

/* A long name has separate rows. */
static void where_name(struct grid *grid, const char *name, const char *title)
{
	const char *rest = grid_text(grid, name_width(), name);

	grid_title(grid, title);
	while (*rest) {
		grid_row(grid);
		cells_text(grid, "", 6);
		rest = grid_text(grid, name_width(), rest);
	}
}

static void where_classes(struct grid *grid, const struct view *view)
{
	const struct fault_figures *classes = view->run->faults.classes, *next;
	uint64_t parts_ns[NR_PARTS];
	bool printed[NR_FAULT_CLASSES] = { 0 };
	enum fault_class class, longest;
	enum part part;
	unsigned int row;

	for (row = 0; row < ROWS_EACH; row++) {
		longest = NR_FAULT_CLASSES;
		for (class = 0; class < NR_FAULT_CLASSES; class++)
			if (classes[class].count && !printed[class] &&
			    (longest == NR_FAULT_CLASSES ||
			     classes[class].whole.total_ns > classes[longest].whole.total_ns))
				longest = class;
		if (longest == NR_FAULT_CLASSES)
			return;
		printed[longest] = true;
		next = &classes[longest];
		for (part = 0; part < NR_PARTS; part++)
			parts_ns[part] = next->parts[part].total_ns;
		where_cells(grid, view, row ? "" : "class", next->count, next->whole.total_ns,
			    parts_ns);
		where_name(grid, fault_class_name(longest), fault_classes[longest].title);
	}
}

static void where_groups(struct grid *grid, const struct view *view, const char *what,
			 const struct report_places *places)
{
	char name[CELLS_GROUP_NAME];
	size_t i;

	for (i = 0; i < places->nr && i < ROWS_EACH; i++) {
		where_cells(grid, view, i ? "" : what, places->rows[i].faults,
			    places->rows[i].total_ns, places->rows[i].parts_ns);
		where_name(grid, cells_group_name(name, &places->rows[i]), NULL);
	}
}

int table_short_where(FILE *out, const struct view *view)
{
	static const char *const headings[] = { "<Where",   ">Total ms", ">Share", ">Faults",
						">Mean µs", "<Mostly",	 "<Name" };
	const struct report_places *places = view->run->places;
	const bool anonymous = view->verdict.place && !view->verdict.place->inode;
	struct grid grid;

	if (!view->run->faults.all.count) {
		fputs("No page faults\n", out);
		return 0;
	}
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	where_classes(&grid, view);
	if (anonymous && places[GROUP_BY_VMA].nr)
		where_groups(&grid, view, "mapping", &places[GROUP_BY_VMA]);
	else
		where_groups(&grid, view, "file", &places[GROUP_BY_FILE]);
	where_groups(&grid, view, "thread", &places[GROUP_BY_THREAD]);
	return grid_close(&grid, out);
}

static void requests_line(FILE *out, const struct report *run)
{
	const struct block_figures *blocks = &run->blocks;

	if (!view_has_hook(run, HOOK_BLOCK) || (!blocks->reads && !blocks->writes))
		return;
	fprintf(out, "Requests: %" PRIu64 " reads, %.1f MiB", blocks->reads,
		blocks->bytes_read / MIB);
	if (blocks->reads) {
		fprintf(out, ", %.1f KiB each; ", blocks->bytes_read / KIB / blocks->reads);
		if (view_has_hook(run, HOOK_BLOCK_INSERT))
			fprintf(out, "queue %.1f µs, ",
				blocks->queue.total_ns / 1e3 / blocks->reads);
		fprintf(out, "device %.1f µs", blocks->device.total_ns / 1e3 / blocks->reads);
	}
	if (blocks->writes)
		fprintf(out, "; %" PRIu64 " writes, %.1f MiB", blocks->writes,
			blocks->bytes_written / MIB);
	if (blocks->errors)
		fprintf(out, "; %" PRIu64 " errors", blocks->errors);
	fputc('\n', out);
}

static void pages_line(FILE *out, const struct report *run)
{
	const struct readahead_figures *pages = &run->pages.readahead;
	uint64_t again = 0;
	size_t i;

	if (!view_has_hook(run, HOOK_BLOCK) || !pages->read)
		return;
	fprintf(out, "Pages read: %" PRIu64 "; %.1f%% mapped by a fault", pages->read,
		100.0 * pages->mapped / pages->read);
	if (view_has_hook(run, HOOK_PAGE_DELETE)) {
		fprintf(out, ", %.1f%% evicted unused",
			100.0 * pages->evicted_unused / pages->read);
		for (i = 0; i < run->pages.nr_pairs; i++)
			again += run->pages.pairs[i].anon ? 0 : run->pages.pairs[i].pages;
		if (again)
			fprintf(out, "; %" PRIu64 " evicted and read again", again);
	}
	fputc('\n', out);
}

static void print_count(FILE *out, const char *name, uint64_t count)
{
	if (count == COUNT_NA)
		fprintf(out, ", %s n/a", name);
	else
		fprintf(out, ", %s %" PRIu64, name, count);
}

/* One line while the counts agree, or differ for known reasons. */
static int counts_line(FILE *out, const struct report *run)
{
	unsigned int compared = 0;
	size_t i;

	for (i = 0; i < run->ledger.nr_differences; i++)
		compared += run->ledger.differences[i].known;
	fprintf(out, "Counts: %" PRIu64 " faults, %" PRIu64 " major", run->faults.all.count,
		run->faults.all.major);
	print_count(out, "minflt", run->usage.minflt);
	print_count(out, "majflt", run->usage.majflt);
	if (run->ledger.unexplained) {
		fputs(":\n", out);
		return table_ledger(out, &run->ledger);
	}
	if (compared)
		fprintf(out, "; %u comparisons agree", compared);
	fputc('\n', out);
	return 0;
}

static void cost_line(FILE *out, const struct report *run)
{
	table_cost_sum(out, run);
	fputs("; all tables: --full\n", out);
}

int table_short_run(FILE *out, const struct view *view)
{
	int err = 0;

	if (table_steps_exist(view->run)) {
		err = table_steps(out, view->run);
		fputc('\n', out);
	}
	if (!err && view_is_drive(view->run)) {
		err = table_study(out, view);
		fputc('\n', out);
		if (!err)
			err = table_classes(out, view);
		fputc('\n', out);
	}
	if (!err && view->run->faults.all.count) {
		err = table_parts_all(out, view);
		fputc('\n', out);
	}
	if (!err && view->run->groups.wanted) {
		err = table_groups(out, view);
		fputc('\n', out);
	}
	err = err ?: table_wrapped(out, view->run, requests_line);
	err = err ?: table_wrapped(out, view->run, pages_line);
	err = err ?: counts_line(out, view->run);
	err = err ?: table_wrapped(out, view->run, cost_line);
	return err ? err : table_measures(out, view->run);
}
