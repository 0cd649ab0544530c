// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a run as a trace for Perfetto's viewer while it streams by: faults, off-CPU intervals,
 * requests, counters. Memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/groups/address_spaces.h"
#include "print/trace/trace_lanes.h"
#include "print/trace/trace_print.h"
#include "print/trace/trace_threads.h"
#include "print/trace/trace_writer.h"
#include "util/array.h"

struct trace_writer {
	struct trace_json json;
	struct trace_lanes *lanes;
	struct spaces *spaces;
	struct trace_threads *threads;
	uint64_t arrows; /* number of arrows so far; the id of the last one */
	uint64_t requests_left_out;
	uint64_t arrows_left_out;
	struct pfstat_task gone; /* event.size 0: none */
	bool devices_named;
};

static void trace_free(struct trace_writer *trace)
{
	trace_lanes_free(trace->lanes);
	address_spaces_free(trace->spaces);
	trace_threads_free(trace->threads);
	trace_json_exit(&trace->json);
	free(trace);
}

int trace_begin(struct trace_writer **opened, FILE *out)
{
	struct trace_writer *trace = calloc(1, sizeof(*trace));

	*opened = NULL;
	if (!trace)
		return -ENOMEM;
	trace->json.out = out;
	trace->lanes = trace_lanes_new();
	trace->spaces = address_spaces_new();
	trace->threads = trace_threads_new(&trace->json);
	if (!trace->lanes || !trace->spaces || !trace->threads) {
		trace_free(trace);
		return -ENOMEM;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	*opened = trace;
	return 0;
}

static int state_of(const struct trace_writer *trace)
{
	return ferror(trace->json.out) ? -EIO : 0;
}

static int trace_task(struct trace_writer *trace, const struct pfstat_task *task)
{
	const struct trace_track track = { task->event.pid, task->event.tid };
	char comm[sizeof(task->comm) + 1];
	int err;

	if (task->event.flags & PFSTAT_TASK_EXIT) {
		trace->gone = *task;
		return 0;
	}
	if (task->event.flags & PFSTAT_TASK_FORK)
		trace_json_begin_thread(&trace->json, task->event.tid);
	err = address_spaces_add_task(trace->spaces, task);
	/* Without flags, the thread existed at the start. */
	if (err ||
	    (task->event.flags && !(task->event.flags & (PFSTAT_TASK_FORK | PFSTAT_TASK_EXEC))))
		return err;
	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(task->comm), task->comm);
	if (track.pid == track.tid)
		err = trace_json_name(&trace->json, "process_name", track, comm);
	return err ? err : trace_json_name(&trace->json, "thread_name", track, comm);
}

static struct trace_track track_of_lane(const struct trace_lane *lane)
{
	return (struct trace_track){
		.pid = TRACE_DEVICES_PID,
		.tid = TRACE_DEVICES_PID + 1 + lane->device * TRACE_MAX_LANES + lane->number,
	};
}

static int name_lane(struct trace_writer *trace, const struct trace_lane *lane)
{
	const struct trace_track devices = { TRACE_DEVICES_PID, TRACE_DEVICES_PID };
	char name[64];
	int err = 0;

	if (!trace->devices_named)
		err = trace_json_name(&trace->json, "process_name", devices, "block devices");
	trace->devices_named = true;
	snprintf(name, sizeof(name), "%u:%u #%u", lane->dev >> 20, lane->dev & 0xfffff,
		 lane->number + 1);
	return err ? err : trace_json_name(&trace->json, "thread_name", track_of_lane(lane), name);
}

static int print_file(struct trace_writer *trace, uint32_t path, uint32_t dev, uint64_t inode,
		      uint64_t pgoff)
{
	char *text;

	if (path) {
		text = trace_json_string(address_spaces_path(trace->spaces, path));
		if (!text)
			return -ENOMEM;
		fprintf(trace->json.out, ",\"file\":%s", text);
		free(text);
	} else {
		fprintf(trace->json.out, ",\"file\":\"%u:%u inode %" PRIu64 "\"", dev >> 20,
			dev & 0xfffff, inode);
	}
	fprintf(trace->json.out, ",\"pgoff\":%" PRIu64, pgoff);
	return 0;
}

/* Arguments with their usual value are left out: a trace has millions of them. */
static void print_if(FILE *out, bool unusual, const char *argument)
{
	if (unusual)
		fputs(argument, out);
}

static int print_request(struct trace_writer *trace, const struct pfstat_block *block)
{
	const uint32_t flags = block->event.flags;
	FILE *out = trace->json.out;
	int err = 0;

	fprintf(out, "\"sector\":%llu,\"bytes\":%" PRIu32 ",\"tid\":%" PRIu32, block->sector,
		block->bytes, block->event.tid);
	if (flags & PFSTAT_BLOCK_FILE)
		err = print_file(trace,
				 address_spaces_file_path(trace->spaces, block->fs_dev,
							  block->inode),
				 block->fs_dev, block->inode, block->pgoff);
	print_if(out, flags & PFSTAT_BLOCK_READAHEAD, ",\"readahead\":true");
	print_if(out, flags & PFSTAT_BLOCK_SWAP, ",\"swap\":true");
	print_if(out, flags & PFSTAT_BLOCK_ERROR, ",\"error\":true");
	return err;
}

static int trace_block(struct trace_writer *trace, const struct pfstat_block *block)
{
	const uint64_t start_ns = trace_lanes_start(block);
	struct trace_lane lane;
	struct trace_track track;
	int err;

	err = trace_lanes_put(trace->lanes, block, &lane);
	if (err == -ENOSPC) {
		trace->requests_left_out++;
		return 0;
	}
	if (!err && lane.fresh)
		err = name_lane(trace, &lane);
	if (err)
		return err;
	track = track_of_lane(&lane);
	trace_json_slice(&trace->json, track, "block",
			 block->event.flags & PFSTAT_BLOCK_WRITE ? "write" : "read", start_ns,
			 block->event.ns);
	err = print_request(trace, block);
	trace_json_slice_end(&trace->json);
	if (err || start_ns == block->issue_ns)
		return err;
	trace_json_slice(&trace->json, track, "block", "queue", start_ns, block->issue_ns);
	trace_json_slice_end(&trace->json);
	trace_json_slice(&trace->json, track, "block", "device", block->issue_ns, block->event.ns);
	trace_json_slice_end(&trace->json);
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

/* Runs at the next item, because the analysis reports a thread's last faults at its exit. */
static int forget_gone(struct trace_writer *trace)
{
	if (!trace->gone.event.size)
		return 0;
	trace->gone.event.size = 0;
	trace_threads_end(trace->threads, trace->gone.event.tid);
	return trace_json_end_thread(&trace->json, trace->gone.event.tid) ?:
		       address_spaces_add_task(trace->spaces, &trace->gone);
}

int trace_item(void *context, const struct item *item)
{
	struct trace_writer *trace = context;
	int err = forget_gone(trace);

	if (err)
		return err;
	if (item->ns) /* else it existed at the start */
		trace_json_begin(&trace->json, item->ns);
	if (item->type == ITEM_EVENT)
		err = trace_event(trace, item->event);
	else if (item->type == ITEM_MAP)
		err = address_spaces_add_map(trace->spaces, item->map);
	return err ? err : state_of(trace);
}

static void print_result(FILE *out, uint32_t result)
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
	const char *separator = "";
	size_t i;

	fputs(",\"result\":\"", out);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(result & names[i].bit))
			continue;
		fprintf(out, "%s%s", separator, names[i].name);
		separator = "|";
	}
	fputc('"', out);
}

static const char *part_name(enum part part)
{
	static const char *const names[NR_PARTS] = PART_NAMES;

	return names[part];
}

static void print_parts(FILE *out, const struct explained *fault)
{
	const char *separator = "";
	enum part part;

	if (!fault->parts_known) {
		fputs(",\"parts\":\"n/a\"", out);
		return;
	}
	/* It never left the CPU: all of it is cpu_before. */
	if (!fault->nr_spans)
		return;
	fputs(",\"parts\":{", out);
	for (part = 0; part < NR_PARTS; part++) {
		if (!fault->parts_ns[part])
			continue;
		fprintf(out, "%s\"%s_ns\":%" PRIu64, separator, part_name(part),
			fault->parts_ns[part]);
		separator = ",";
	}
	fputc('}', out);
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

static int print_fault(struct trace_writer *trace, const struct explained *fault)
{
	FILE *out = trace->json.out;
	int err = 0;

	fprintf(out, "\"address\":\"0x%" PRIx64 "\"", fault->address);
	if (fault->inode)
		err = print_file(trace, path_of(trace, fault), fault->dev, fault->inode,
				 fault->pgoff);
	if (fault->ip)
		fprintf(out, ",\"ip\":\"0x%" PRIx64 "\"", fault->ip);
	if (fault->attempts != 1)
		fprintf(out, ",\"attempts\":%u", fault->attempts);
	print_if(out, fault->flags & PFSTAT_FLAG_WRITE, ",\"write\":true");
	print_if(out, fault->major, ",\"major\":true");
	print_if(out, !fault->solved, ",\"solved\":false");
	print_result(out, fault->result);
	print_parts(out, fault);
	return err;
}

static void part_slice(struct trace_writer *trace, const struct explained *fault, enum part part,
		       uint64_t from_ns, uint64_t to_ns)
{
	const struct trace_track track = { fault->pid, fault->tid };

	if (from_ns >= to_ns)
		return;
	trace_json_slice(&trace->json, track, "part", part_name(part), from_ns, to_ns);
	trace_json_slice_end(&trace->json);
}

/*
 * True if the gaps between the spans are exactly the time on the CPU, so that no time is missing.
 */
static bool gaps_are_cpu(const struct explained *fault)
{
	const uint64_t cpu_ns = fault->parts_ns[PART_CPU_BEFORE] + fault->parts_ns[PART_CPU_AFTER];
	uint64_t gaps_ns = fault->end_ns - fault->start_ns;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++)
		gaps_ns -= fault->spans[i].to_ns - fault->spans[i].from_ns;
	return gaps_ns == cpu_ns;
}

/* Prints a gap on the CPU. It is cpu_before while before_ns is left, then cpu_after. */
static void cpu_slice(struct trace_writer *trace, const struct explained *fault, uint64_t from_ns,
		      uint64_t to_ns, uint64_t *before_ns)
{
	part_slice(trace, fault, *before_ns ? PART_CPU_BEFORE : PART_CPU_AFTER, from_ns, to_ns);
	*before_ns -= *before_ns < to_ns - from_ns ? *before_ns : to_ns - from_ns;
}

static void part_slices(struct trace_writer *trace, const struct explained *fault)
{
	const bool gaps = gaps_are_cpu(fault);
	uint64_t before_ns = fault->parts_ns[PART_CPU_BEFORE];
	uint64_t at_ns = fault->start_ns;
	const struct explain_span *span;
	unsigned int i;

	/* A fault without a sleep or reclaim has one part, which its own slice already shows. */
	if (!fault->parts_known || !fault->nr_spans)
		return;
	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (gaps)
			cpu_slice(trace, fault, at_ns, span->from_ns, &before_ns);
		part_slice(trace, fault, span->part, span->from_ns, span->to_ns);
		at_ns = span->to_ns;
	}
	if (gaps)
		cpu_slice(trace, fault, at_ns, fault->end_ns, &before_ns);
}

/*
 * Draws an arrow from the last moment of the request to the next moment in the fault. Both ends
 * must lie inside their slices, and the end of a slice does not belong to it.
 */
static void arrow(struct trace_writer *trace, const struct explained *fault)
{
	const struct pfstat_block *request = &fault->request;
	const struct trace_track thread = { fault->pid, fault->tid };
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
	trace_json_arrow(&trace->json, 's', track_of_lane(&lane), trace->arrows, from_ns);
	trace_json_arrow(&trace->json, 'f', thread, trace->arrows, to_ns);
}

int trace_fault(void *context, const struct explained *fault)
{
	struct trace_writer *trace = context;
	const struct trace_track track = { fault->pid, fault->tid };
	int err;

	trace_json_begin(&trace->json, fault->start_ns);
	trace_threads_fault(trace->threads, fault);
	trace_json_slice(&trace->json, track, "fault", fault_class_name(fault->class),
			 fault->start_ns, fault->end_ns);
	err = print_fault(trace, fault);
	trace_json_slice_end(&trace->json);
	part_slices(trace, fault);
	if (fault->request.event.size)
		arrow(trace, fault);
	return err ? err : state_of(trace);
}

static void trace_print_lost(FILE *out, const char *name, uint64_t lost)
{
	if (lost == COUNT_NA)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRIu64, name, lost);
}

static int trace_print_end(struct trace_writer *trace, const struct trace_missing *missing)
{
	char *text = missing->damage ? trace_json_string(missing->damage) : NULL;
	FILE *out = trace->json.out;

	fprintf(out, "\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"origin_ns\":%" PRIu64,
		trace->json.origin_ns);
	fprintf(out, ",\"requests_left_out\":%" PRIu64 ",\"arrows_left_out\":%" PRIu64,
		trace->requests_left_out, trace->arrows_left_out);
	trace_print_lost(out, "lost", missing->lost);
	trace_print_lost(out, "events_lost", missing->events_lost);
	fprintf(out, ",\"damage\":%s}}\n", text ? text : "null");
	free(text);
	return missing->damage && !text ? -ENOMEM : 0;
}

int trace_end(struct trace_writer *trace, const struct trace_missing *missing)
{
	int err;

	err = trace_threads_finish(trace->threads);
	if (!err)
		err = trace_print_end(trace, missing);
	if (!err && fflush(trace->json.out))
		err = -errno;
	if (!err)
		err = state_of(trace);
	trace_free(trace);
	return err;
}
