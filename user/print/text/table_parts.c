// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for logical faults by class with the parts of their time, for requests and for pages. The
 * figures come from the report. A cell that could not be measured is n/a.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "print/text/table.h"
#include "print/text/cells.h"
#include "print/standstill_text.h"
#include "util/array.h"
#include "util/text.h"

#define MIB	   (1024.0 * 1024)
#define SMALL_PART 0.01 /* of the time, omitted in the short report */

#define SHORT_CPU_TASKS 3
#define UNKNOWN_TASK	0.1 /* of a task's waits, to print the time without a known task */

static bool slept(const struct fault_figures *faults)
{
	return faults->whole.total_ns > fault_figures_cpu_ns(faults);
}

static void part_row(struct grid *grid, const struct report *run, enum part part,
		     const struct fault_figures *faults, double least)
{
	const struct part_figures *figures = &faults->parts[part];
	const bool is_cpu = part_has(part, PART_ON_CPU);

	/* A note below the table lists the parts that are n/a. For perf these are most parts. */
	if (view_part_known(run, part) ?
		    !figures->total_ns || figures->total_ns < least * faults->whole.total_ns :
		    !slept(faults) || view_source_is_perf(run))
		return;
	grid_row(grid);
	grid_cell(grid, "  %s%s", part_name(part),
		  is_cpu && view_cpu_at_most(run) ? ", at most" : "");
	grid_title(grid, part_title(part));
	if (!view_part_known(run, part)) {
		cells_text(grid, "", 2);
		cells_text(grid, "n/a", 7);
		return;
	}
	cell_count(grid, figures->faults);
	grid_cell(grid, "%s", "");
	cell_scaled(grid, figures->total_ns / 1e6);
	cell_share(grid, view_share(figures->total_ns, run->faults.all.whole.total_ns));
	cell_share(grid, view_share(figures->total_ns, faults->whole.total_ns));
	cells_times(grid, figures, faults->count);
}

/* @least: a part with a smaller time share has no row. */
static void faults_rows(struct grid *grid, const struct report *run, const char *name,
			const char *title, const struct fault_figures *faults, double least)
{
	enum part part;

	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_title(grid, title);
	cell_count(grid, faults->count);
	cell_count(grid, faults->major);
	cell_scaled(grid, faults->whole.total_ns / 1e6);
	cell_share(grid, view_share(faults->whole.total_ns, run->faults.all.whole.total_ns));
	grid_cell(grid, "%s", "");
	cells_times(grid, &faults->whole, faults->count);
	if (!run->faults.parts_known)
		return;
	for (part = 0; part < NR_PARTS; part++)
		part_row(grid, run, part, faults, least);
}

static void residue_note(FILE *out, const struct report *run)
{
	const double share = view_residue_share(run);

	if (isnan(share))
		return;
	/* The share lacks the time of lost events, so it is never printed as 0. */
	if (view_cpu_at_most(run) && share < 0.00005)
		fprintf(out, "Unexplained: not known, because %" PRIu64 " events were lost\n",
			run->losses.events);
	else if (view_cpu_at_most(run))
		fprintf(out,
			"Unexplained: at least %.2f%% of the time; %" PRIu64 " events were lost\n",
			100 * share, run->losses.events);
	else if (share > 0 && share < 0.00005)
		fputs("Unexplained: <0.01% of the time\n", out);
	else
		fprintf(out, "Unexplained: %.2f%% of the time\n", 100 * share);
}

static void failed_note(FILE *out, const struct report *run)
{
	const uint64_t failed = run->evidence.failed_faults;

	if (failed != COUNT_NA && failed)
		fprintf(out, "Faults that failed (SIGSEGV, SIGBUS or EFAULT): %" PRIu64 "\n",
			failed);
}

static void cpu_wait_note(FILE *out, const struct report *run)
{
	static const char *const names[NR_CPU_WAITS] = {
		[CPU_WAIT_TASK] = "after another task",
		[CPU_WAIT_IDLE] = "woken on an idle CPU",
		[CPU_WAIT_PREEMPTED_IDLE] = "preempted, then on an idle CPU",
		[CPU_WAIT_THROTTLED] = "held back by cpu.max",
	};
	const char *separator = "Waits for a CPU: ";
	const struct evidence_cpu_wait *wait;
	size_t i;

	for (i = CPU_WAIT_TASK; i < NR_CPU_WAITS && view_part_known(run, PART_RUNQUEUE); i++) {
		wait = &run->evidence.cpu_waits[i];
		if (!wait->count)
			continue;
		fprintf(out, "%s%.2f ms %s", separator, wait->total_ns / 1e6, names[i]);
		separator = ", ";
	}
	if (separator[0] == ',')
		fputc('\n', out);
}

/* If several processes had the CPU in one wait, only one is known. */
static void cpu_task_line(FILE *out, const struct cpu_task_row *row)
{
	const uint64_t rest_ns = row->total_ns - row->ran_ns;
	char name[VIEW_CPU_TASK];

	fprintf(out, "Waited %.2f ms for a CPU; %s had it longest, ", row->total_ns / 1e6,
		view_cpu_task_name(name, row));
	if (!row->ran_ns) {
		fputs("for an unknown time\n", out);
		return;
	}
	fprintf(out, "and ran for at least %.2f ms of them\n", row->ran_ns / 1e6);
	if (rest_ns >= UNKNOWN_TASK * row->total_ns)
		fprintf(out, "  No running task is known for the other %.2f ms\n", rest_ns / 1e6);
}

static void cpu_task_note(FILE *out, const struct report *run)
{
	const uint64_t least_ns = run->full ? 0 : SMALL_PART * run->faults.all.whole.total_ns;
	const struct report_cpu_tasks *tasks = &run->cpu_tasks;
	size_t i, printed = 0;

	for (i = 0; i < tasks->nr && (run->full || printed < SHORT_CPU_TASKS); i++) {
		if (tasks->rows[i].total_ns < least_ns)
			continue;
		cpu_task_line(out, &tasks->rows[i]);
		printed++;
	}
}

static void reclaim_note(FILE *out, const struct report *run)
{
	static const char *const names[PFSTAT_NR_RECLAIM_KINDS] = {
		[PFSTAT_RECLAIM_DIRECT] = "reclaims for lack of free memory",
		[PFSTAT_RECLAIM_CGROUP] = "reclaims at a cgroup's limit",
		[PFSTAT_RECLAIM_COMPACTION] = "compactions",
		[PFSTAT_RECLAIM_THROTTLE] = "times throttled by memory.high, after faults",
	};
	const char *separator = "The program's reclaim, compaction and throttling: ";
	const struct evidence_reclaims *reclaims;
	enum pfstat_reclaim_kind kind;

	for (kind = 0; kind < PFSTAT_NR_RECLAIM_KINDS; kind++) {
		reclaims = &run->evidence.reclaims[kind];
		if (!reclaims->count)
			continue;
		fprintf(out, "%s%" PRIu64 " %s, %.2f ms", separator, reclaims->count, names[kind],
			reclaims->total_ns / 1e6);
		if (reclaims->pages)
			fprintf(out, ", %" PRIu64 " pages", reclaims->pages);
		separator = "; ";
	}
	if (separator[0] == ';')
		fputc('\n', out);
}

/* perf's class for what eBPF divides into classes: not listed as missing. */
static bool is_of_other_source(const struct report *run, enum fault_class class)
{
	return !view_source_is_perf(run) && fault_classes[class].hooks & 1U << HOOK_PERF;
}

static void calls_only_note(FILE *out, const struct report *run)
{
	const uint64_t faults = run->faults.all.calls_only;

	if (!faults)
		return;
	fprintf(out, "With their call time only, without mm: %" PRIu64 " fault%s (%s)\n", faults,
		faults == 1 ? "" : "s",
		!run->faults.has_spans		? "an older recording" :
		!view_has_hook(run, HOOK_FAULT) ? "not all faults were counted" :
						  "no handle_mm_fault() record");
}

struct list {
	char text[512];
	const char *separator;
};

static void missing_add(struct list *list, const char *name)
{
	const size_t length = strlen(list->text);

	snprintf(list->text + length, sizeof(list->text) - length, "%s%s", list->separator, name);
	list->separator = ", ";
}

/* Lists the n/a cells, and the reasons. */
static void missing_note(FILE *out, const struct report *run)
{
	struct list list = {
		.separator = view_missing(run),
	};
	enum fault_class class;
	enum part part;

	for (part = 0; part < NR_PARTS; part++) {
		/* A separate note has the reason. */
		if (view_part_known(run, part) || (part == PART_MM && run->faults.all.calls_only))
			continue;
		missing_add(&list, part_name(part));
	}
	for (class = FAULT_FIRST_OTHER; class < NR_FAULT_CLASSES; class++)
		if (!view_class_known(run, class) && !is_of_other_source(run, class))
			missing_add(&list, fault_class_name(class));
	if (!view_source_is_perf(run) && !view_has_hook(run, HOOK_WAIT_STACK) &&
	    run->waits.unknown_ns)
		missing_add(&list, "kernel stacks of sleeps");
	if (list.text[0])
		wrap_text(out, list.text, grid_width());
}

static void parts_notes(FILE *out, const struct report *run, const char *rows_note)
{
	if (!run->faults.parts_known) {
		table_no_bpf(out, run, "Parts");
		standstill_text_notes(out, run);
		calls_only_note(out, run);
		return;
	}
	fputs(rows_note, out);
	residue_note(out, run);
	calls_only_note(out, run);
	failed_note(out, run);
	standstill_text_notes(out, run);
	cpu_wait_note(out, run);
	cpu_task_note(out, run);
	table_lock_notes(out, run);
	reclaim_note(out, run);
	missing_note(out, run);
}

static const char *const parts_headings[] = { "<Class",	 ">Faults",   ">Major",	  ">Total ms",
					      ">Of all", ">Of class", ">Mean µs", ">p50 µs",
					      ">p99 µs", ">Max µs" };

/* Without eBPF's hook the faults in other mappings are unknown. */
static const char *all_name(const struct report *run)
{
	return view_has_hook(run, HOOK_FAULT) ? "all faults" : "all hooked";
}

int table_parts_all(FILE *out, const struct view *view)
{
	struct grid grid;
	int err;

	fputs("Parts of the faults' time\n", out);
	grid_open(&grid, parts_headings, ARRAY_SIZE(parts_headings));
	faults_rows(&grid, view->run, all_name(view->run), NULL, &view->run->faults.all,
		    SMALL_PART);
	err = grid_close(&grid, out);
	parts_notes(out, view->run, "");
	table_guest_line(out, view->run);
	table_waits_short(out, view->run);
	return err ?: table_wrapped(out, view->run, table_tail_line);
}

int table_parts(FILE *out, const struct view *view)
{
	const struct report *run = view->run;
	enum fault_class class;
	struct grid grid;
	size_t i;
	int err;

	fputs("Where a logical fault's time went\n", out);
	grid_open(&grid, parts_headings, ARRAY_SIZE(parts_headings));
	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_rows[i];
		if (run->faults.classes[class].count)
			faults_rows(&grid, run, fault_class_name(class), fault_classes[class].title,
				    &run->faults.classes[class], 0);
	}
	faults_rows(&grid, run, all_name(run), NULL, &run->faults.all, 0);
	err = grid_close(&grid, out);
	if (run->faults.all.unsolved)
		fprintf(out, "Faults that ended with an error or a signal: %" PRIu64 "\n",
			run->faults.all.unsolved);
	parts_notes(out, run,
		    "A part's row counts the faults that spent time in it. The mean, p50 and p99 "
		    "are\nover all faults in the class.\n");
	table_guest_line(out, run);
	table_contents(out, run);
	return err;
}

static void request_row(struct grid *grid, const char *name, uint64_t count, uint64_t bytes)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	cell_count(grid, count);
	cell_scaled(grid, bytes / MIB);
	cells_text(grid, "", 5);
}

static void service_row(struct grid *grid, const char *name, const struct part_figures *figures,
			uint64_t count, bool known)
{
	grid_row(grid);
	grid_cell(grid, "  %s", name);
	cells_text(grid, "", 2);
	if (!known) {
		cells_text(grid, "n/a", 5);
		return;
	}
	cell_scaled(grid, figures->total_ns / 1e6);
	cells_times(grid, figures, count);
}

int table_parts_requests(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Block requests", ">Count",   ">MiB",
						">Total ms",	   ">Mean µs", ">p50 µs",
						">p99 µs",	   ">Max µs" };
	const struct block_figures *blocks = &run->blocks;
	struct grid grid;

	if (!view_has_hook(run, HOOK_BLOCK)) {
		fputs("Block requests: n/a\n", out);
		return 0;
	}
	if (!blocks->reads && !blocks->writes) {
		fputs("Block requests: none\n", out);
		return 0;
	}
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	request_row(&grid, "reads", blocks->reads, blocks->bytes_read);
	if (blocks->reads) {
		service_row(&grid, "queue", &blocks->queue, blocks->reads,
			    view_has_hook(run, HOOK_BLOCK_INSERT));
		service_row(&grid, "device", &blocks->device, blocks->reads, true);
	}
	request_row(&grid, "writes", blocks->writes, blocks->bytes_written);
	if (blocks->errors) {
		grid_row(&grid);
		grid_cell(&grid, "errors");
		cell_count(&grid, blocks->errors);
		cells_text(&grid, "", 6);
	}
	return grid_close(&grid, out);
}

static void page_row(struct grid *grid, const char *name, uint64_t pages, uint64_t read,
		     const char *meaning)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	cell_count(grid, pages);
	if (pages == COUNT_NA)
		grid_cell(grid, "n/a");
	else
		cell_share(grid, view_share(pages, read));
	grid_cell(grid, "%s", meaning);
}

int table_parts_readahead(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Page cache", ">Pages", ">Share", "<Meaning" };
	const struct readahead_figures *pages = &run->pages.readahead;
	const bool removals = view_has_hook(run, HOOK_PAGE_DELETE);
	struct grid grid;

	if (!view_has_hook(run, HOOK_BLOCK)) {
		fputs("Pages read into the page cache: n/a\n", out);
		return 0;
	}
	if (!pages->read && !pages->overflow) {
		fputs("Pages read into the page cache: none\n", out);
		return 0;
	}
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	page_row(&grid, "read", pages->read, pages->read, "from block devices into the page cache");
	page_row(&grid, "mapped", pages->mapped, pages->read, "by a fault, afterwards");
	page_row(&grid, "evicted unused", removals ? pages->evicted_unused : COUNT_NA, pages->read,
		 "removed before a fault mapped them");
	page_row(&grid, "never used", removals ? pages->idle : COUNT_NA, pages->read,
		 "still there; read(2) may have used them");
	if (pages->overflow)
		page_row(&grid, "not tracked", pages->overflow, COUNT_NA,
			 "dropped before their fate was known; not counted above");
	return grid_close(&grid, out);
}
