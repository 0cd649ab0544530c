// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a run as a trace for Perfetto's viewer while it streams by: faults, off-CPU intervals and
 * requests. Memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/slowest.h"
#include "print/printers.h"
#include "print/trace/trace_print.h"
#include "util/array.h"

struct trace_writer {
	struct perfetto *perfetto;
	struct trace_lanes *lanes;
	struct spaces *spaces;
	const struct analysis *analysis; /* names the waits; NULL: they have no names */
	struct trace_threads *threads;
	uint64_t arrows; /* number of arrows so far, and the last one's id */
	uint64_t requests_left_out;
	uint64_t arrows_left_out;
	struct pfstat_task gone; /* event.size 0: none */
	struct slowest slowest;	 /* over the printed faults, none if max is 0 */
	bool devices_named;
};

static void trace_free(struct trace_writer *trace)
{
	trace_lanes_free(trace->lanes);
	address_spaces_free(trace->spaces);
	trace_threads_free(trace->threads);
	perfetto_free(trace->perfetto);
	slowest_exit(&trace->slowest);
	free(trace);
}

int trace_print_begin(struct trace_writer **opened, uint64_t page_bytes, FILE *out)
{
	struct trace_writer *trace = calloc(1, sizeof(*trace));

	*opened = NULL;
	if (!trace)
		return -ENOMEM;
	trace->perfetto = perfetto_new(out);
	trace->lanes = trace_lanes_new();
	trace->spaces = address_spaces_new(page_bytes);
	trace->threads = trace->perfetto ? trace_threads_new(trace->perfetto) : NULL;
	if (!trace->lanes || !trace->spaces || !trace->threads) {
		trace_free(trace);
		return -ENOMEM;
	}
	*opened = trace;
	return 0;
}

void trace_print_repeat_slowest(struct trace_writer *trace, unsigned int nr)
{
	trace->slowest.max = nr;
}

void trace_print_name_waits(struct trace_writer *trace, const struct analysis *analysis)
{
	trace->analysis = analysis;
}

static int trace_task(struct trace_writer *trace, const struct pfstat_task *task)
{
	const struct trace_track track = { task->event.pid, task->event.tid, false };
	char comm[sizeof(task->comm) + 1];
	int err;

	if (task->event.flags & PFSTAT_TASK_EXIT) {
		trace->gone = *task;
		return 0;
	}
	if (task->event.flags & PFSTAT_TASK_FORK)
		perfetto_begin_thread(trace->perfetto, task->event.tid);
	err = address_spaces_add_task(trace->spaces, task);
	/* Without flags, the thread existed at the start. */
	if (err ||
	    (task->event.flags &&
	     !(task->event.flags & (PFSTAT_TASK_FORK | PFSTAT_TASK_EXEC | PFSTAT_TASK_RENAME))))
		return err;
	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(task->comm), task->comm);
	if (track.pid == track.tid)
		perfetto_name_process(trace->perfetto, track.pid, comm);
	perfetto_name_thread(trace->perfetto, track, comm);
	return 0;
}

static struct trace_track track_of_lane(const struct trace_lane *lane)
{
	return (struct trace_track){
		.pid = TRACE_DEVICES_PID,
		.tid = TRACE_DEVICES_PID + 1 + lane->device * TRACE_MAX_LANES + lane->number,
	};
}

static void name_lane(struct trace_writer *trace, const struct trace_lane *lane)
{
	struct perfetto *perfetto = trace->perfetto;
	char name[64];

	if (!trace->devices_named)
		perfetto_name_process(perfetto, TRACE_DEVICES_PID, "block devices");
	trace->devices_named = true;
	snprintf(name, sizeof(name), "%u:%u #%u", lane->dev >> 20, lane->dev & 0xfffff,
		 lane->number + 1);
	perfetto_name_thread(perfetto, track_of_lane(lane), name);
}

static void print_file(struct trace_writer *trace, uint32_t path, uint32_t dev, uint64_t inode,
		       uint64_t pgoff)
{
	struct perfetto *perfetto = trace->perfetto;
	char text[64];

	if (path) {
		perfetto_text(perfetto, "file", address_spaces_path(trace->spaces, path));
	} else {
		snprintf(text, sizeof(text), "%u:%u inode %" PRIu64, dev >> 20, dev & 0xfffff,
			 inode);
		perfetto_text(perfetto, "file", text);
	}
	perfetto_number(perfetto, "pgoff", pgoff);
}

/* Arguments with their usual value are omitted: a trace has millions of them. */
static void print_if(struct perfetto *perfetto, bool unusual, const char *key, bool value)
{
	if (unusual)
		perfetto_boolean(perfetto, key, value);
}

static void print_request(struct trace_writer *trace, const struct pfstat_block *block)
{
	const uint32_t flags = block->event.flags;
	struct perfetto *perfetto = trace->perfetto;

	perfetto_number(perfetto, "sector", block->sector);
	perfetto_number(perfetto, "bytes", block->bytes);
	perfetto_number(perfetto, "tid", block->event.tid);
	if (flags & PFSTAT_BLOCK_FILE)
		print_file(trace,
			   address_spaces_file_path(trace->spaces, block->fs_dev, block->inode),
			   block->fs_dev, block->inode, block->pgoff);
	print_if(perfetto, flags & PFSTAT_BLOCK_READAHEAD, "readahead", true);
	print_if(perfetto, flags & PFSTAT_BLOCK_SWAP, "swap", true);
	print_if(perfetto, flags & PFSTAT_BLOCK_ERROR, "error", true);
	perfetto_args_end(perfetto);
}

static uint64_t earliest(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static uint64_t latest(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* The clocks of two CPUs differ slightly, so a request may seem to end before it was issued. */
static int trace_block(struct trace_writer *trace, const struct pfstat_block *block)
{
	const uint64_t start_ns = trace_lanes_start(block);
	const uint64_t end_ns = latest(start_ns, block->event.ns);
	const uint64_t issue_ns = latest(start_ns, earliest(block->issue_ns, end_ns));
	struct perfetto *perfetto = trace->perfetto;
	struct trace_lane lane;
	struct trace_track track;
	int err;

	err = trace_lanes_put(trace->lanes, block, &lane);
	if (err == -ENOSPC) {
		trace->requests_left_out++;
		return 0;
	}
	if (err)
		return err;
	if (lane.fresh)
		name_lane(trace, &lane);
	track = track_of_lane(&lane);
	perfetto_slice(perfetto, track, "block",
		       block->event.flags & PFSTAT_BLOCK_WRITE ? "write" : "read", start_ns);
	print_request(trace, block);
	if (start_ns != block->issue_ns) {
		perfetto_plain_slice(perfetto, track, "block", "queue", start_ns, issue_ns);
		perfetto_plain_slice(perfetto, track, "block", "device", issue_ns, end_ns);
	}
	perfetto_slice_end(perfetto, track, end_ns);
	return 0;
}

static int trace_event(struct trace_writer *trace, const struct pfstat_event *event)
{
	switch (event->type) {
	case PFSTAT_EVENT_TASK:
		return trace_task(trace, (const struct pfstat_task *)event);
	case PFSTAT_EVENT_OFF_CPU:
		return trace_threads_off_cpu(trace->threads, (const struct pfstat_off_cpu *)event);
	case PFSTAT_EVENT_BLOCK:
		return trace_block(trace, (const struct pfstat_block *)event);
	default:
		return 0;
	}
}

/*
 * Runs at the next item, because the analysis reports a thread's last faults when the thread exits.
 */
static int forget_gone(struct trace_writer *trace)
{
	if (!trace->gone.event.size)
		return 0;
	trace->gone.event.size = 0;
	trace_threads_end(trace->threads, trace->gone.event.tid);
	perfetto_end_thread(trace->perfetto, trace->gone.event.tid);
	return address_spaces_add_task(trace->spaces, &trace->gone);
}

int trace_print_item(void *context, const struct item *item)
{
	struct trace_writer *trace = context;
	int err = forget_gone(trace);

	if (err)
		return err;
	if (item->type == ITEM_EVENT)
		err = trace_event(trace, item->event);
	else if (item->type == ITEM_MAP)
		err = address_spaces_add_map(trace->spaces, item->map);
	return err ? err : perfetto_state(trace->perfetto);
}

static void print_result(struct perfetto *perfetto, uint32_t result)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ PFSTAT_RESULT_OOM, "OOM" },
		{ PFSTAT_RESULT_SIGBUS, "SIGBUS" },
		{ PFSTAT_RESULT_MAJOR, "MAJOR" },
		{ PFSTAT_RESULT_HWPOISON, "HWPOISON" },
		{ PFSTAT_RESULT_HWPOISON_LARGE, "HWPOISON_LARGE" },
		{ PFSTAT_RESULT_SIGSEGV, "SIGSEGV" },
		{ PFSTAT_RESULT_NOPAGE, "NOPAGE" },
		{ PFSTAT_RESULT_LOCKED, "LOCKED" },
		{ PFSTAT_RESULT_RETRY, "RETRY" },
		{ PFSTAT_RESULT_FALLBACK, "FALLBACK" },
		{ PFSTAT_RESULT_COMPLETED, "COMPLETED" },
	};
	char text[128] = "", *at = text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(result & names[i].bit))
			continue;
		if (at != text)
			*at++ = '|';
		at = stpcpy(at, names[i].name);
	}
	perfetto_text(perfetto, "result", text);
}

static void print_parts(struct perfetto *perfetto, const struct explained *fault)
{
	enum part part;
	char key[32];

	if (!fault->parts_known) {
		perfetto_text(perfetto, "parts", "n/a");
		return;
	}
	/* The whole fault is cpu_before. */
	if (!fault->nr_spans && !fault->parts_ns[PART_MM])
		return;
	perfetto_dict(perfetto, "parts");
	for (part = 0; part < NR_PARTS; part++) {
		if (!fault->parts_ns[part])
			continue;
		snprintf(key, sizeof(key), "%s_ns", part_name(part));
		perfetto_number(perfetto, key, fault->parts_ns[part]);
	}
	perfetto_dict_end(perfetto);
}

/* Falls back to the mapping at the address, because the two device numbers differ on btrfs. */
static uint32_t path_of(const struct trace_writer *trace, const struct explained *fault)
{
	uint32_t path = address_spaces_file_path(trace->spaces, fault->dev, fault->inode);
	const struct space_map *map;

	if (path)
		return path;
	map = address_spaces_find(trace->spaces, fault->pid, fault->address);
	return map && map->inode == fault->inode ? map->path : 0;
}

static void print_fault(struct trace_writer *trace, const struct explained *fault)
{
	struct perfetto *perfetto = trace->perfetto;

	perfetto_address(perfetto, "address", fault->address);
	if (fault->inode)
		print_file(trace, path_of(trace, fault), fault->dev, fault->inode, fault->pgoff);
	if (fault->ip)
		perfetto_address(perfetto, "ip", fault->ip);
	if (fault->attempts != 1)
		perfetto_number(perfetto, "attempts", fault->attempts);
	/* Then a missing "write" does not mean a read. */
	print_if(perfetto, fault->perf, "perf", true);
	print_if(perfetto, fault->flags & PFSTAT_FLAG_WRITE, "write", true);
	print_if(perfetto, fault->major, "major", true);
	print_if(perfetto, !fault->solved, "solved", false);
	print_if(perfetto, !fault->whole, "whole", false);
	print_result(perfetto, fault->result);
	print_parts(perfetto, fault);
	perfetto_args_end(perfetto);
}

/*
 * Draws an arrow from the last moment of the request to the next moment in the fault. Both ends
 * must lie inside their slices, and a slice's end does not belong to the slice.
 */
static void arrow(struct trace_writer *trace, const struct explained *fault)
{
	const struct pfstat_block *request = &fault->request;
	const struct trace_track thread = { fault->pid, fault->tid, false };
	struct perfetto *perfetto = trace->perfetto;
	uint64_t from_ns = request->event.ns - 1, to_ns = request->event.ns;
	struct trace_lane lane;

	if (to_ns >= fault->end_ns)
		to_ns = fault->end_ns - 1;
	if (from_ns > to_ns)
		from_ns = to_ns;
	if (to_ns < fault->start_ns || from_ns < trace_lanes_start(request) ||
	    !trace_lanes_find(trace->lanes, request, &lane)) {
		trace->arrows_left_out++;
		return;
	}
	trace->arrows++;
	perfetto_arrow(perfetto, 's', track_of_lane(&lane), trace->arrows, from_ns);
	perfetto_arrow(perfetto, 'f', thread, trace->arrows, to_ns);
}

int trace_print_fault(void *context, const struct explained *fault)
{
	struct trace_writer *trace = context;
	const struct trace_track track = { fault->pid, fault->tid, false };
	struct perfetto *perfetto = trace->perfetto;

	trace_threads_fault(trace->threads, fault);
	perfetto_slice(perfetto, track, "fault", fault_class_name(fault->class), fault->start_ns);
	print_fault(trace, fault);
	trace_parts_print(perfetto, trace->analysis, fault);
	perfetto_slice_end(perfetto, track, fault->end_ns);
	if (fault->request.event.size)
		arrow(trace, fault);
	if (trace->slowest.max && slowest_add_fault(&trace->slowest, fault, NULL))
		return -ENOMEM;
	return perfetto_state(perfetto);
}

/* A slice with the same arguments on a separate track. The parts appear only on the thread. */
static void trace_slow_fault(struct trace_writer *trace, const struct slow_fault *slow,
			     unsigned int rank)
{
	const struct explained *fault = &slow->fault;
	const struct trace_track track = { TRACE_SLOWEST_PID, TRACE_SLOWEST_PID + rank, false };
	struct perfetto *perfetto = trace->perfetto;
	char name[64];

	snprintf(name, sizeof(name), "#%u: %.3f ms", rank, slow_fault_ns(slow) / 1e6);
	perfetto_name_thread(perfetto, track, name);
	perfetto_slice(perfetto, track, "longest", fault_class_name(fault->class), fault->start_ns);
	perfetto_number(perfetto, "pid", fault->pid);
	perfetto_number(perfetto, "tid", fault->tid);
	print_fault(trace, fault);
	perfetto_slice_end(perfetto, track, fault->end_ns);
}

static int trace_slowest(struct trace_writer *trace)
{
	const struct slow_fault **sorted;
	unsigned int i;
	int err;

	if (!trace->slowest.nr)
		return 0;
	err = slowest_list(&trace->slowest, &sorted);
	if (err)
		return err;
	perfetto_name_process(trace->perfetto, TRACE_SLOWEST_PID, "longest faults");
	for (i = 0; i < trace->slowest.nr; i++)
		trace_slow_fault(trace, sorted[i], i + 1);
	free(sorted);
	return 0;
}

int trace_print_end(struct trace_writer *trace, const struct trace_missing *known)
{
	struct trace_missing missing = *known;
	struct perfetto *perfetto = trace->perfetto;
	int err;

	missing.requests_left_out = trace->requests_left_out;
	missing.arrows_left_out = trace->arrows_left_out;
	err = trace_threads_finish(trace->threads);
	if (!err)
		err = trace_slowest(trace);
	if (!err)
		perfetto_finish(perfetto, &missing);
	if (!err)
		err = perfetto_state(perfetto);
	trace_free(trace);
	return err;
}

static int perfetto_printer_open(void **data, FILE *out, const struct analysis *analysis)
{
	struct trace_writer *trace;
	int err = trace_print_begin(&trace, analysis_page_bytes(analysis), out);

	if (!err) {
		trace_print_name_waits(trace, analysis);
		trace_print_repeat_slowest(trace,
					   analysis_slowest(analysis)->max ?: SLOWEST_FAULTS);
	}
	*data = trace;
	return err;
}

static int perfetto_printer_end(void *data, const struct missing_faults *missing)
{
	const struct trace_missing known = {
		.damage = missing->damage,
		.lost = missing->lost,
		.events_lost = missing->events_lost,
	};

	return trace_print_end(data, &known);
}

const struct fault_printer perfetto_printer = {
	.open = perfetto_printer_open,
	.item = trace_print_item,
	.fault = trace_print_fault,
	.end = perfetto_printer_end,
};
