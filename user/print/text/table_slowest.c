// SPDX-License-Identifier: GPL-2.0-only
/* The longest faults, and the percentiles of all. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/call_kind.h"
#include "print/text/cells.h"
#include "print/text/table.h"
#include "util/array.h"
#include "util/text.h"

/*
 * The longest faults: first a row for each, then what happened during each fault. The figures come
 * from the report. Facts that a source cannot know are named once, below the first table.
 */

#define KIB (1024.0)

#define PLACE_WIDTH 50

/* A sentence, wrapped when it is complete. */
struct slow_text {
	FILE *out;
	FILE *memory;
	char *text;
	size_t bytes;
};

static void slow_text_open(struct slow_text *text, FILE *out)
{
	*text = (struct slow_text){ .out = out };
	text->memory = open_memstream(&text->text, &text->bytes);
}

static void __attribute__((format(printf, 2, 3))) slow_text_add(struct slow_text *text,
								const char *format, ...)
{
	va_list arguments;

	if (!text->memory)
		return;
	va_start(arguments, format);
	vfprintf(text->memory, format, arguments);
	va_end(arguments);
}

static int slow_text_close(struct slow_text *text, size_t columns)
{
	int err = text->memory && !fclose(text->memory) ? 0 : -ENOMEM;

	if (!err)
		wrap_text(text->out, text->text, columns);
	free(text->text);
	return err;
}

static enum part slow_main_part(const struct explained *fault)
{
	enum part part, longest = 0;

	for (part = 0; part < NR_PARTS; part++)
		if (fault->parts_ns[part] > fault->parts_ns[longest])
			longest = part;
	return longest;
}

/* Seconds since the start of the run. A drive prepares before the start. */
static double since_start(const struct report *run, uint64_t ns)
{
	const uint64_t start_ns = run->slowest.start_ns;

	if (start_ns == COUNT_NA)
		return NAN;
	return ns < start_ns ? -((start_ns - ns) / 1e9) : (ns - start_ns) / 1e9;
}

static void cell_since_start(struct grid *grid, const struct report *run, uint64_t ns)
{
	const double seconds = since_start(run, ns);

	if (isnan(seconds))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.6f", seconds);
}

static void slow_thread_cell(struct grid *grid, const char *name, uint32_t tid)
{
	if (name[0])
		grid_cell(grid, "%s (%" PRIu32 ")", name, tid);
	else
		grid_cell(grid, "thread %" PRIu32, tid);
}

static void slow_thread_text(struct slow_text *text, const char *name, uint32_t tid)
{
	slow_text_add(text, "thread ");
	if (name[0])
		slow_text_add(text, "%s (%" PRIu32 ")", name, tid);
	else
		slow_text_add(text, "%" PRIu32, tid);
}

static const char *slow_place(const struct report_slow *row)
{
	const struct longest_names *place = &row->names.place;

	if (row->slow->fault.inode && place->file)
		return place->file;
	return place->mapping && place->mapping[0] ? place->mapping : "(no mapping is known)";
}

static void slow_row(struct grid *grid, const struct report *run, size_t i)
{
	const struct report_slow *row = &run->slowest.rows[i];
	const struct explained *fault = &row->slow->fault;
	const enum part part = slow_main_part(fault);
	const char *rest;

	grid_row(grid);
	grid_cell(grid, "%zu", i + 1);
	cell_scaled(grid, slow_fault_ns(row->slow) / 1e6);
	cell_since_start(grid, run, fault->start_ns);
	grid_cell(grid, "%s", fault_class_name(fault->class));
	grid_title(grid, fault_classes[fault->class].title);
	if (fault->parts_known) {
		grid_cell(grid, "%s %.0f%%", part_name(part),
			  100 * view_share(fault->parts_ns[part], slow_fault_ns(row->slow)));
		grid_title(grid, part_title(part));
	} else {
		grid_cell(grid, "n/a");
	}
	slow_thread_cell(grid, row->names.place.thread, fault->tid);
	for (rest = grid_text(grid, PLACE_WIDTH, slow_place(row)); *rest;) {
		grid_row(grid);
		cells_text(grid, "", 6);
		rest = grid_text(grid, PLACE_WIDTH, rest);
	}
}

static void slow_place_text(struct slow_text *text, const struct report *run,
			    const struct report_slow *row)
{
	const struct explained *fault = &row->slow->fault;
	const struct longest_names *place = &row->names.place;

	if (fault->inode)
		slow_text_add(text, "%s, offset 0x%" PRIx64 " (page %" PRIu64 "), ",
			      slow_place(row), fault->pgoff * run->environment.page_bytes,
			      fault->pgoff);
	slow_text_add(text, "address 0x%" PRIx64, fault->address);
	if (!fault->inode ||
	    (place->mapping && place->mapping[0] && strcmp(place->mapping, slow_place(row))))
		slow_text_add(text, " of %s",
			      place->mapping && place->mapping[0] ? place->mapping :
								    "no known mapping");
	slow_text_add(text, "; code %s.", place->code ?: "(not known)");
}

static void slow_kind_text(struct slow_text *text, const struct report *run,
			   const struct explained *fault)
{
	slow_text_add(text, " %s fault",
		      !fault->solved ? "Unsolved" :
		      fault->major   ? "Major" :
				       "Minor");
	if (!fault->perf)
		slow_text_add(text, " of a %s",
			      fault->flags & PFSTAT_FLAG_WRITE ? "store" : "load");
	if (fault->flags & PFSTAT_FLAG_GUEST)
		slow_text_add(text, " on the memory of a guest (KVM)");
	else if (!(fault->flags & PFSTAT_FLAG_USER))
		slow_text_add(text, " by the kernel, in a system call");
	if (fault->attempts > 1)
		slow_text_add(text, ", %u attempts", fault->attempts);
	if (fault->read_bytes)
		slow_text_add(text, ", read %.1f KiB", fault->read_bytes / KIB);
	slow_text_add(text, ".");
	if (!fault->solved)
		slow_text_add(text, " An error or a signal ended it.");
	if (!fault->whole && run->faults.has_spans)
		slow_text_add(text, " The time covers the calls only.");
}

static void slow_parts_text(struct slow_text *text, const struct report *run,
			    const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;
	const char *separator = "\nParts: ";
	enum part part;

	for (part = 0; part < NR_PARTS && fault->parts_known; part++) {
		if (!fault->parts_ns[part])
			continue;
		slow_text_add(text, "%s%s%s %.1f µs (%.1f %%)", separator, part_name(part),
			      part_has(part, PART_ON_CPU) && view_cpu_at_most(run) ? ", at most," :
										     "",
			      fault->parts_ns[part] / 1e3,
			      100 * view_share(fault->parts_ns[part], whole_ns));
		separator = ", ";
	}
	if (fault->parts_known)
		slow_text_add(text, ".");
}

static void slow_cpu_task_text(struct slow_text *text, const struct report_slow *row)
{
	const struct explained *fault = &row->slow->fault;
	const struct explain_span *span;
	const char *separator = "\nHad the CPU meanwhile: ";
	char name[VIEW_CPU_TASK];
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (!row->names.tasks[i])
			continue;
		slow_text_add(text, "%s%s", separator,
			      view_cpu_task_name(name, row->names.tasks[i]));
		if (span->task_ran_ns)
			slow_text_add(text, ", for at least %.1f µs of a wait of %.1f µs",
				      span->task_ran_ns / 1e3, (span->to_ns - span->from_ns) / 1e3);
		separator = "; ";
	}
	if (separator[0] == ';')
		slow_text_add(text, ".");
}

static void slow_cpu_text(struct slow_text *text, const struct explained *fault)
{
	static const char *const names[NR_CPU_WAITS] = {
		[CPU_WAIT_UNKNOWN] = "not known what ran there",
		[CPU_WAIT_TASK] = "after another task",
		[CPU_WAIT_IDLE] = "woken on an idle CPU",
		[CPU_WAIT_PREEMPTED_IDLE] = "preempted, then on an idle CPU",
		[CPU_WAIT_THROTTLED] = "held back by cpu.max",
	};
	const char *separator = "\nWaits for a CPU: ";
	enum cpu_wait wait;

	for (wait = 0; wait < NR_CPU_WAITS; wait++) {
		if (!fault->cpu_waits[wait])
			continue;
		slow_text_add(text, "%s%.1f µs, %s", separator, fault->cpu_waits_ns[wait] / 1e3,
			      names[wait]);
		separator = "; ";
	}
	if (separator[0] == ';')
		slow_text_add(text, ".");
}

static void slow_waker_cell(struct grid *grid, const struct report *run,
			    const struct slow_fault *slow, const struct explain_span *span)
{
	const char *name = slow_fault_thread(slow, span->waker);
	char call[VIEW_WAKER];

	if (!view_waker_call(call, run, span->waker_doing)[0])
		slow_thread_cell(grid, name, span->waker);
	else if (name[0])
		grid_cell(grid, "%s (%" PRIu32 ") in %s", name, span->waker, call);
	else
		grid_cell(grid, "thread %" PRIu32 " in %s", span->waker, call);
}

static void slow_calls_text(struct slow_text *text, const struct slow_fault *slow)
{
	const struct pfstat_call *call;
	unsigned int i;
	char detail[128];

	for (i = 0; i < slow->nr_calls; i++) {
		call = &slow->calls[i];
		call_kind_print_detail(call->kind, call_kind_detail(call), detail, sizeof(detail));
		slow_text_add(text, i ? "; " : "\nMeanwhile in the process: ");
		slow_thread_text(text, slow_fault_thread(slow, call->event.tid), call->event.tid);
		slow_text_add(text, " in %s(%s), %.1f µs, of which %.1f µs in this fault",
			      call_kind_name(call->kind), detail,
			      item_elapsed(call->start_ns, call->event.ns) / 1e3,
			      slow_fault_shared_ns(slow, call) / 1e3);
	}
	if (slow->calls_left_out)
		slow_text_add(text, "; and %u more calls", slow->calls_left_out);
	if (slow->nr_calls)
		slow_text_add(text, ".");
}

/* The cause and the functions of a sleep, for as many columns as a table has. */
static void slow_wait_cell(struct grid *grid, const struct wait_row *row)
{
	char functions[60];

	if (!row) {
		grid_cell(grid, "%s", "");
		return;
	}
	table_waits_functions(functions, sizeof(functions), row->functions);
	grid_cell(grid, "%s%s%s", row->cause ?: "", row->cause ? ": " : "", functions);
}

/* perf reports only that the thread was off the CPU. */
static int slow_spans(FILE *out, const struct report *run, const struct report_slow *row)
{
	static const char *const headings[] = { ">At µs", ">Took µs", "<Part", "<Woken by",
						"<For, by stack" };
	const struct explained *fault = &row->slow->fault;
	const bool has_reasons = !view_source_is_perf(run);
	const struct explain_span *span;
	struct grid grid;
	unsigned int i;
	int err;

	if (!fault->nr_spans)
		return 0;
	fputs("Off the CPU, or in reclaim\n", out);
	grid_open(&grid, headings, has_reasons ? ARRAY_SIZE(headings) : 3);
	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		grid_row(&grid);
		grid_cell(&grid, "%.1f", (span->from_ns - fault->start_ns) / 1e3);
		cell_scaled(&grid, (span->to_ns - span->from_ns) / 1e3);
		grid_cell(&grid, "%s", part_name(span->part));
		grid_title(&grid, part_title(span->part));
		if (!has_reasons)
			continue;
		if (span->waker)
			slow_waker_cell(&grid, run, row->slow, span);
		else
			grid_cell(&grid, "%s", "");
		slow_wait_cell(&grid, row->names.waits[i]);
	}
	err = grid_close(&grid, out);
	if (fault->nr_spans == EXPLAIN_MAX_SPANS)
		fprintf(out, "Only the first %d intervals are known one by one.\n",
			EXPLAIN_MAX_SPANS);
	return err;
}

static void slow_request_row(struct grid *grid, const struct report *run,
			     const struct report_slow *row, unsigned int i)
{
	const struct explained *fault = &row->slow->fault;
	const struct pfstat_block *request = &fault->requests[i];
	const uint32_t flags = request->event.flags;

	grid_row(grid);
	/* Another thread's read-ahead may have started before the fault. */
	grid_cell(grid, "%.1f", ((double)request->insert_ns - (double)fault->start_ns) / 1e3);
	if (view_has_hook(run, HOOK_BLOCK_INSERT))
		cell_scaled(grid, item_elapsed(request->insert_ns, request->issue_ns) / 1e3);
	else
		grid_cell(grid, "n/a");
	cell_scaled(grid, item_elapsed(request->issue_ns, request->event.ns) / 1e3);
	grid_cell(grid, "%.1f", request->bytes / KIB);
	if (row->slow->in_flight[i])
		grid_cell(grid, "%" PRIu32, row->slow->in_flight[i]);
	else
		grid_cell(grid, "n/a");
	grid_cell(grid, "%u:%u", request->dev >> 20, request->dev & 0xfffff);
	grid_cell(grid, "%s%s%s%s%s%s", flags & PFSTAT_BLOCK_WRITE ? "write" : "read",
		  flags & PFSTAT_BLOCK_READAHEAD ? ", read-ahead" : "",
		  flags & PFSTAT_BLOCK_SWAP ? ", swap" : "",
		  flags & PFSTAT_BLOCK_ERROR ? ", error" : "", row->names.files[i] ? ", of " : "",
		  row->names.files[i] ?: "");
}

static int slow_requests(FILE *out, const struct report *run, const struct report_slow *row)
{
	static const char *const headings[] = { ">At µs",     ">Queue µs", ">Device µs", ">KiB",
						">In flight", "<Disk",	   "<Kind" };
	const struct explained *fault = &row->slow->fault;
	struct grid grid;
	unsigned int i;
	int err;

	if (!fault->nr_requests)
		return 0;
	fputs("Requests that it waited for\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < fault->nr_requests; i++)
		slow_request_row(&grid, run, row, i);
	err = grid_close(&grid, out);
	if (fault->more_requests)
		fprintf(out, "It waited for more requests than these %d.\n", EXPLAIN_MAX_REQUESTS);
	return err;
}

static int slow_fault_print(FILE *out, const struct report *run, size_t i, size_t columns)
{
	const struct report_slow *row = &run->slowest.rows[i];
	const struct explained *fault = &row->slow->fault;
	struct slow_text text;
	int err;

	slow_text_open(&text, out);
	slow_text_add(&text, "%zu. %.3f ms in ", i + 1, slow_fault_ns(row->slow) / 1e6);
	slow_thread_text(&text, row->names.place.thread, fault->tid);
	slow_text_add(&text, " of process %" PRIu32 ": ", fault->pid);
	slow_place_text(&text, run, row);
	slow_kind_text(&text, run, fault);
	slow_parts_text(&text, run, fault);
	if (!view_source_is_perf(run)) {
		slow_cpu_text(&text, fault);
		slow_cpu_task_text(&text, row);
	}
	slow_calls_text(&text, row->slow);
	err = slow_text_close(&text, columns);
	err = err ?: slow_spans(out, run, row);
	return err ?: slow_requests(out, run, row);
}

static void slow_no_hook_text(struct slow_text *text, const struct report *run)
{
	static const struct {
		enum bpf_hook hook;
		const char *what;
	} needs[] = {
		{ HOOK_BLOCK, "device requests" },
		{ HOOK_WAIT_STACK, "the kernel stacks of sleeps" },
		{ HOOK_WAKEUP, "the threads that ended them" },
	};
	const char *separator = view_missing(run);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		if (view_has_hook(run, needs[i].hook))
			continue;
		slow_text_add(text, "%s%s", separator, needs[i].what);
		separator = ", ";
	}
	if (view_source_is_perf(run))
		slow_text_add(text, ", what ran on the CPU instead");
}

static int slow_missing_text(FILE *out, const struct report *run, size_t columns)
{
	struct slow_text text;
	int err;

	slow_text_open(&text, out);
	if (!run->bpf.known)
		slow_text_add(&text, "n/a, because eBPF did not run: parts, device requests, "
				     "kernel stacks of sleeps, the threads that ended them");
	else
		slow_no_hook_text(&text, run);
	err = slow_text_close(&text, columns);
	if (view_has_hook(run, HOOK_BLOCK))
		fputs("Requests in flight are from the recorded threads.\n", out);
	return err;
}

int table_slowest(FILE *out, const struct view *view, size_t columns)
{
	static const char *const headings[] = { ">No",	   ">Took ms", ">At s", "<Class",
						"<Mostly", "<Thread",  "<Place" };
	const struct report *run = view->run;
	const struct report_slowest *slowest = &run->slowest;
	uint64_t total_ns = 0;
	struct grid grid;
	size_t i;
	int err;

	if (!slowest->nr) {
		fputs("No page faults\n", out);
		return 0;
	}
	for (i = 0; i < slowest->nr; i++)
		total_ns += slow_fault_ns(slowest->rows[i].slow);
	fprintf(out, "The longest %zu of %" PRIu64 " faults: %.3f ms, %.1f%% of the faults' time\n",
		slowest->nr, run->faults.all.count, total_ns / 1e6,
		100 * view_share(total_ns, run->faults.all.whole.total_ns));
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < slowest->nr; i++)
		slow_row(&grid, run, i);
	err = grid_close(&grid, out);
	err = err ?: slow_missing_text(out, run, columns);
	for (i = 0; i < slowest->nr && !err; i++) {
		fputc('\n', out);
		err = slow_fault_print(out, run, i, columns);
	}
	return err;
}

/*
 * The time percentiles for whole faults. The figures come from the report. A percentile is n/a if a
 * class has too few faults for it.
 */

static void cell_percentile(struct grid *grid, uint64_t ns)
{
	if (ns == COUNT_NA)
		grid_cell(grid, "n/a");
	else
		cell_scaled(grid, ns / 1e3);
}

static void percentiles_row(struct grid *grid, const char *name, const char *title,
			    const struct fault_figures *faults)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_title(grid, title);
	cell_count(grid, faults->count);
	cell_percentile(grid, faults->whole.p50_ns);
	cell_percentile(grid, faults->whole.p99_ns);
	cell_percentile(grid, faults->whole.p999_ns);
	cell_percentile(grid, faults->whole.p9999_ns);
	cell_percentile(grid, faults->whole.max_ns);
}

int table_tail_percentiles(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<Class",    ">Faults",	   ">p50 µs", ">p99 µs",
						">p99.9 µs", ">p99.99 µs", ">Max µs" };
	enum fault_class class;
	struct grid grid;
	size_t i;

	if (!run->faults.all.count)
		return 0;
	fputs("Fault time percentiles\n", out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_rows[i];
		if (run->faults.classes[class].count)
			percentiles_row(&grid, fault_class_name(class), fault_classes[class].title,
					&run->faults.classes[class]);
	}
	percentiles_row(&grid, "all", NULL, &run->faults.all);
	return grid_close(&grid, out);
}

static void tail_percentile(FILE *out, const char *name, uint64_t ns, unsigned int least)
{
	if (ns == COUNT_NA)
		fprintf(out, "%s n/a with fewer than %u faults, ", name, least);
	else
		fprintf(out, "%s %.1f µs, ", name, ns / 1e3);
}

void table_tail_line(FILE *out, const struct report *run)
{
	const struct part_figures *whole = &run->faults.all.whole;

	fputs("Tail: ", out);
	tail_percentile(out, "p99.9", whole->p999_ns, P999_LEAST);
	if (whole->p999_ns != COUNT_NA)
		tail_percentile(out, "p99.99", whole->p9999_ns, P9999_LEAST);
	fprintf(out, "longest %.1f µs; the longest faults: report --slowest 10\n",
		whole->max_ns / 1e3);
}
