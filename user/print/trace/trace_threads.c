// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps off-CPU intervals of each thread until its faults before them are known, so that no
 * slice overlaps another in its lane.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "print/trace/trace_threads.h"
#include "util/hash.h"

/*
 * Kept of a thread. A fault is told when it is over, but one that waits for its retry only
 * when the retry does not come: few stays, and other faults, lie between.
 */
#define NR_KEPT 32
/* Threads at a time of which stays are kept: 26 MB. */
#define THREADS_MAX 16384U
/* Threads at a time of which stays are kept: 26 MB. */
#define THREADS_MAX 16384U

struct thread {
	struct pfstat_off_cpu kept[NR_KEPT]; /* a ring, in time order */
	unsigned int first, count;
	uint64_t told_ns; /* faults are told up to here */
};

struct trace_threads {
	struct trace_json *json;
	struct hash threads; /* by tid */
};

struct trace_threads *trace_threads_new(struct trace_json *json)
{
	struct trace_threads *threads = calloc(1, sizeof(*threads));

	if (threads)
		threads->json = json;
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

static void draw(struct trace_json *json, const struct pfstat_off_cpu *interval)
{
	const struct trace_track track = { interval->event.pid, interval->event.tid };

	if (interval->off_ns >= interval->event.ns)
		return;
	trace_json_slice(json, track, "off-CPU", off_cpu_name(interval), interval->off_ns,
			 interval->event.ns);
	fprintf(json->out, "\"state\":%" PRIu32, interval->state);
	if (interval->event.flags & PFSTAT_OFF_CPU_WOKEN &&
	    interval->event.ns >= interval->woken_ns)
		fprintf(json->out, ",\"runnable_ns\":%llu",
			interval->event.ns - interval->woken_ns);
	if (interval->waker)
		fprintf(json->out, ",\"waker\":%" PRIu32, interval->waker);
	trace_json_slice_end(json);
}

static void draw_oldest(struct trace_threads *threads, struct thread *thread)
{
	draw(threads->json, &thread->kept[thread->first]);
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
 * A recording may have stays of any number of threads. With too many, all that are kept are
 * printed: a fault that is reported later has them as slices, in addition to its parts.
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
	/* The clocks of CPUs differ by moments. */
	if (kept->off_ns < thread->told_ns)
		kept->off_ns = thread->told_ns;
	return 0;
}

/* What of the stay is not in the fault: by such a moment before it or after it, if any. */
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
