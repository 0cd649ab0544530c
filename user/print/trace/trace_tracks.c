// SPDX-License-Identifier: GPL-2.0-only
/*
 * What trace_print.c places on its tracks: block requests in lanes, off-CPU intervals of threads,
 * and the parts of faults. Slices on one track do not overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/handlers.h"
#include "print/trace/trace_print.h"
#include "util/hash.h"

/* Lanes of requests. The last requests are kept for the faults that waited for them. */

/*
 * The last requests in a hash table. A newer request overwrites an older one with the same hash. A
 * fault is reported soon after its request, so some thousands are enough.
 */
#define NR_RECENT 8192

struct device {
	uint32_t dev;
	unsigned int nr;
	uint64_t *ends_ns; /* when each lane's last request ended */
};

struct recent {
	struct trace_lane lane;
	uint64_t sector, issue_ns, end_ns; /* end_ns 0: the slot is empty */
};

struct trace_lanes {
	struct device devices[TRACE_MAX_DEVICES];
	unsigned int nr;
	struct recent recent[NR_RECENT];
};

struct trace_lanes *trace_lanes_new(void)
{
	return calloc(1, sizeof(struct trace_lanes));
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	unsigned int i;

	for (i = 0; lanes && i < lanes->nr; i++)
		free(lanes->devices[i].ends_ns);
	free(lanes);
}

uint64_t trace_lanes_start(const struct pfstat_block *block)
{
	if (block->insert_ns && block->insert_ns < block->issue_ns)
		return block->insert_ns;
	return block->issue_ns;
}

static int find_device(struct trace_lanes *lanes, uint32_t dev)
{
	struct device *device;
	unsigned int i;

	for (i = 0; i < lanes->nr; i++)
		if (lanes->devices[i].dev == dev)
			return i;
	if (lanes->nr == TRACE_MAX_DEVICES)
		return -ENOSPC;
	device = &lanes->devices[lanes->nr];
	device->dev = dev;
	device->ends_ns = calloc(TRACE_MAX_LANES, sizeof(*device->ends_ns));
	return device->ends_ns ? (int)lanes->nr++ : -ENOMEM;
}

/*
 * Requests arrive ordered by end time, so a lane is free if its last request ended before this one
 * began.
 */
static int find_lane(struct device *device, uint64_t start_ns)
{
	unsigned int i;

	for (i = 0; i < device->nr; i++)
		if (device->ends_ns[i] <= start_ns)
			return i;
	return device->nr < TRACE_MAX_LANES ? (int)device->nr++ : -ENOSPC;
}

static size_t slot_of(const struct pfstat_block *block)
{
	uint64_t hash = (block->sector ^ ((uint64_t)block->dev << 40) ^ block->issue_ns) *
			0x9e3779b97f4a7c15;

	return hash >> 32 & (NR_RECENT - 1);
}

int trace_lanes_put(struct trace_lanes *lanes, const struct pfstat_block *block,
		    struct trace_lane *lane)
{
	int number, index = find_device(lanes, block->dev);
	struct device *device;
	unsigned int before;

	if (index < 0)
		return index;
	device = &lanes->devices[index];
	before = device->nr;
	number = find_lane(device, trace_lanes_start(block));
	if (number < 0)
		return number;
	if (device->ends_ns[number] < block->event.ns)
		device->ends_ns[number] = block->event.ns;
	*lane = (struct trace_lane){ block->dev, index, number, device->nr > before };
	lanes->recent[slot_of(block)] =
		(struct recent){ *lane, block->sector, block->issue_ns, block->event.ns };
	return 0;
}

bool trace_lanes_find(const struct trace_lanes *lanes, const struct pfstat_block *block,
		      struct trace_lane *lane)
{
	const struct recent *recent = &lanes->recent[slot_of(block)];

	*lane = recent->lane;
	return recent->lane.dev == block->dev && recent->sector == block->sector &&
	       recent->issue_ns == block->issue_ns && recent->end_ns == block->event.ns;
}

/*
 * Keeps each thread's off-CPU intervals until the faults containing them are reported, so slices in
 * one lane do not overlap.
 */

/*
 * Intervals kept for each thread. A fault is reported when it is over. A fault waiting for a retry
 * is reported only if the retry does not come. Few intervals and other faults happen before that.
 */
#define NR_KEPT 32
/* Maximum number of threads with kept intervals: 26 MB. */
#define THREADS_MAX 16384U

struct thread {
	struct pfstat_off_cpu kept[NR_KEPT]; /* ring buffer in time order */
	unsigned int first, count;
	uint64_t told_ns; /* faults are reported up to this time */
};

struct trace_threads {
	struct perfetto *perfetto;
	struct hash threads; /* key: tid */
};

struct trace_threads *trace_threads_new(struct perfetto *perfetto)
{
	struct trace_threads *threads = calloc(1, sizeof(*threads));

	if (threads)
		threads->perfetto = perfetto;
	return threads;
}

void trace_threads_free(struct trace_threads *threads)
{
	if (!threads)
		return;
	hash_exit(&threads->threads, free);
	free(threads);
}

static const char *off_cpu_name(const struct pfstat_off_cpu *interval)
{
	if (interval->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		return "preempted";
	if (interval->event.flags & PFSTAT_OFF_CPU_IOWAIT)
		return "I/O wait";
	return "sleep";
}

static void draw(struct perfetto *perfetto, const struct pfstat_off_cpu *interval)
{
	const struct trace_track track = { interval->event.pid, interval->event.tid, true };

	if (interval->off_ns >= interval->event.ns)
		return;
	perfetto_slice(perfetto, track, "off-CPU", off_cpu_name(interval), interval->off_ns);
	perfetto_number(perfetto, "state", interval->state);
	if (interval->event.flags & PFSTAT_OFF_CPU_WOKEN &&
	    interval->event.ns >= interval->woken_ns)
		perfetto_number(perfetto, "runnable_ns", interval->event.ns - interval->woken_ns);
	if (interval->waker)
		perfetto_number(perfetto, "waker", interval->waker);
	perfetto_args_end(perfetto);
	perfetto_slice_end(perfetto, track, interval->event.ns);
}

static void draw_oldest(struct trace_threads *threads, struct thread *thread)
{
	draw(threads->perfetto, &thread->kept[thread->first]);
	thread->first = (thread->first + 1) % NR_KEPT;
	thread->count--;
}

static int draw_rest(void *context, void *value)
{
	struct thread *thread = value;

	while (thread->count)
		draw_oldest(context, thread);
	return 0;
}

/*
 * A recording may have intervals for any number of threads. Over the limit, all kept intervals are
 * printed. A fault reported later then shows them twice: as slices, and in the fault's parts.
 */
static int forget_all(struct trace_threads *threads)
{
	int err = hash_visit_sorted(&threads->threads, draw_rest, threads);

	hash_exit(&threads->threads, free);
	return err;
}

static struct thread *thread_get(struct trace_threads *threads, uint32_t tid)
{
	struct thread *thread = hash_find(&threads->threads, tid);

	if (thread)
		return thread;
	if (threads->threads.count >= THREADS_MAX && forget_all(threads))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (thread && hash_add(&threads->threads, tid, thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

int trace_threads_off_cpu(struct trace_threads *threads, const struct pfstat_off_cpu *interval)
{
	struct thread *thread = thread_get(threads, interval->event.tid);
	struct pfstat_off_cpu *kept;

	if (!thread)
		return -ENOMEM;
	if (thread->count == NR_KEPT)
		draw_oldest(threads, thread);
	kept = &thread->kept[(thread->first + thread->count++) % NR_KEPT];
	*kept = *interval;
	/*
	 * The clocks of two CPUs differ slightly, so the interval may seem to begin inside a fault.
	 */
	if (kept->off_ns < thread->told_ns)
		kept->off_ns = thread->told_ns;
	return 0;
}

/*
 * Removes the part of the interval that lies in the fault. If clocks differ, a short piece before
 * or after the fault remains.
 */
static void take_out(struct pfstat_off_cpu *interval, const struct explained *fault)
{
	if (interval->off_ns >= fault->end_ns || interval->event.ns <= fault->start_ns)
		return;
	if (interval->off_ns < fault->start_ns)
		interval->event.ns = fault->start_ns;
	else
		interval->off_ns = fault->end_ns;
}

void trace_threads_fault(struct trace_threads *threads, const struct explained *fault)
{
	struct thread *thread = hash_find(&threads->threads, fault->tid);
	unsigned int i;

	if (!thread)
		return;
	for (i = 0; i < thread->count; i++)
		take_out(&thread->kept[(thread->first + i) % NR_KEPT], fault);
	if (thread->told_ns < fault->end_ns)
		thread->told_ns = fault->end_ns;
}

void trace_threads_end(struct trace_threads *threads, uint32_t tid)
{
	struct thread *thread = hash_take(&threads->threads, tid);

	if (thread)
		draw_rest(threads, thread);
	free(thread);
}

int trace_threads_finish(struct trace_threads *threads)
{
	return hash_visit_sorted(&threads->threads, draw_rest, threads);
}

/*
 * Cuts a fault into slices: the spans from explain.c, and the time on the CPU between them. If some
 * time is unexplained, the gaps stay empty.
 */

static void part_slice(struct perfetto *perfetto, const struct explained *fault, enum part part,
		       uint64_t from_ns, uint64_t to_ns)
{
	const struct trace_track track = { fault->pid, fault->tid, false };

	if (from_ns < to_ns)
		perfetto_plain_slice(perfetto, track, "part", part_name(part), from_ns, to_ns);
}

/*
 * True if the gaps between the spans are exactly the time on the CPU, so that no time is missing.
 */
static bool gaps_are_cpu(const struct explained *fault)
{
	uint64_t gaps_ns = fault->end_ns - fault->start_ns;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++)
		gaps_ns -= fault->spans[i].to_ns - fault->spans[i].from_ns;
	return gaps_ns == explained_cpu_ns(fault);
}

/* Prints time on the CPU in a call. It is cpu_before while before_ns is left, then cpu_after. */
static void call_slice(struct perfetto *perfetto, const struct explained *fault, uint64_t from_ns,
		       uint64_t to_ns, uint64_t *before_ns)
{
	part_slice(perfetto, fault, *before_ns ? PART_CPU_BEFORE : PART_CPU_AFTER, from_ns, to_ns);
	*before_ns -= *before_ns < to_ns - from_ns ? *before_ns : to_ns - from_ns;
}

/* Prints a gap on the CPU. Time outside the calls is mm. */
static void cpu_slice(struct perfetto *perfetto, const struct explained *fault, uint64_t from_ns,
		      uint64_t to_ns, uint64_t *before_ns)
{
	const struct explain_call *call;
	uint64_t until_ns;
	unsigned int i;

	if (!fault->parts_ns[PART_MM]) {
		call_slice(perfetto, fault, from_ns, to_ns, before_ns);
		return;
	}
	for (i = 0; i < fault->nr_call_spans && from_ns < to_ns; i++) {
		call = &fault->call_spans[i];
		if (call->to_ns <= from_ns || call->from_ns >= to_ns)
			continue;
		if (call->from_ns > from_ns) {
			part_slice(perfetto, fault, PART_MM, from_ns, call->from_ns);
			from_ns = call->from_ns;
		}
		until_ns = call->to_ns < to_ns ? call->to_ns : to_ns;
		call_slice(perfetto, fault, from_ns, until_ns, before_ns);
		from_ns = until_ns;
	}
	part_slice(perfetto, fault, PART_MM, from_ns, to_ns);
}

/* False: some calls are not stored, and their time would be mm. */
static bool has_all_calls(const struct explained *fault)
{
	return !fault->parts_ns[PART_MM] || fault->nr_call_spans < EXPLAIN_MAX_CALLS;
}

static void print_cpu_task(struct perfetto *perfetto, const struct cpu_task_row *task,
			   uint64_t ran_ns)
{
	perfetto_number(perfetto, "cpu_task", task->pid);
	perfetto_text(perfetto, "cpu_task_name", task->comm);
	if (ran_ns)
		perfetto_number(perfetto, "cpu_task_ran_ns", ran_ns);
}

static void print_handler(struct perfetto *perfetto, const struct handler_row *handler)
{
	if (!handler)
		return;
	perfetto_number(perfetto, "handler", handler->pid);
	perfetto_text(perfetto, "handler_name", handler->name);
}

/* Prints a span, with the last task on the CPU or the handler if known. */
static void span_slice(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault, const struct explain_span *span)
{
	const struct trace_track track = { fault->pid, fault->tid, false };

	if (span->from_ns >= span->to_ns)
		return;
	perfetto_slice(perfetto, track, "part", part_name(span->part), span->from_ns);
	if (analysis && span->task)
		print_cpu_task(perfetto, &analysis_waits(analysis)->tasks.rows[span->task - 1],
			       span->task_ran_ns);
	if (analysis && span->part == PART_HANDLER)
		print_handler(perfetto, analysis_handler(analysis, fault, span));
	perfetto_args_end(perfetto);
	perfetto_slice_end(perfetto, track, span->to_ns);
}

void trace_parts_print(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault)
{
	const bool gaps = gaps_are_cpu(fault) && has_all_calls(fault);
	uint64_t before_ns = fault->parts_ns[PART_CPU_BEFORE];
	uint64_t at_ns = fault->start_ns;
	const struct explain_span *span;
	unsigned int i;

	/* A fault with one part: the fault's slice already shows it. */
	if (!fault->parts_known || (!fault->nr_spans && !fault->parts_ns[PART_MM]))
		return;
	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (gaps)
			cpu_slice(perfetto, fault, at_ns, span->from_ns, &before_ns);
		span_slice(perfetto, analysis, fault, span);
		at_ns = span->to_ns;
	}
	if (gaps)
		cpu_slice(perfetto, fault, at_ns, fault->end_ns, &before_ns);
}
