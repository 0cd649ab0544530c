// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps each thread's off-CPU intervals until the faults containing them are reported, so slices in
 * one lane do not overlap.
 */
#include <errno.h>
#include <stdlib.h>

#include "print/trace/trace_threads.h"
#include "util/hash.h"

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
