// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "../correlate/hash.h"
#include "../correlate/stays.h"
#include "trace_threads.h"

struct thread {
	struct stays stays;
	uint64_t drawn_ns;	/* its slices reach up to here */
};

struct trace_threads {
	struct trace_json *json;
	struct hash threads;	/* by tid */
};

struct trace_threads *trace_threads_new(struct trace_json *json)
{
	struct trace_threads *threads = calloc(1, sizeof(*threads));

	if (threads)
		threads->json = json;
	return threads;
}

static void thread_free(void *value)
{
	struct thread *thread = value;

	if (thread)
		stays_exit(&thread->stays);
	free(thread);
}

void trace_threads_free(struct trace_threads *threads)
{
	if (!threads)
		return;
	hash_exit(&threads->threads, thread_free);
	free(threads);
}

static struct thread *thread_get(struct trace_threads *threads, uint32_t tid)
{
	struct thread *thread = hash_find(&threads->threads, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread && hash_add(&threads->threads, tid, thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

static const char *name_of(const struct pfstat_off_cpu *stay)
{
	if (stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		return "preempted";
	if (stay->event.flags & PFSTAT_OFF_CPU_IOWAIT)
		return "I/O wait";
	return "sleep";
}

/* Not before what is drawn already, not after until_ns: clocks of CPUs differ by moments. */
static void draw(struct trace_threads *threads, struct thread *thread,
		 const struct pfstat_off_cpu *stay, uint64_t until_ns)
{
	const struct trace_track track = { stay->event.pid, stay->event.tid };
	const uint64_t from_ns = stay->off_ns > thread->drawn_ns ? stay->off_ns : thread->drawn_ns;
	const uint64_t to_ns = stay->event.ns < until_ns ? stay->event.ns : until_ns;
	FILE *out = threads->json->out;

	if (from_ns >= to_ns)
		return;
	thread->drawn_ns = to_ns;
	trace_json_slice(threads->json, track, "off-CPU", name_of(stay), from_ns, to_ns);
	fprintf(out, "\"state\":%" PRIu32, stay->state);
	if (stay->event.flags & PFSTAT_OFF_CPU_WOKEN && stay->event.ns >= stay->woken_ns)
		fprintf(out, ",\"runnable_ns\":%llu", stay->event.ns - stay->woken_ns);
	if (stay->waker)
		fprintf(out, ",\"waker\":%" PRIu32, stay->waker);
	trace_json_slice_end(threads->json);
}

static void draw_oldest(struct trace_threads *threads, struct thread *thread)
{
	draw(threads, thread, stays_oldest(&thread->stays), UINT64_MAX);
	stays_drop(&thread->stays);
}

int trace_threads_stay(struct trace_threads *threads, const struct pfstat_off_cpu *stay)
{
	struct thread *thread = thread_get(threads, stay->event.tid);

	if (!thread)
		return -ENOMEM;
	if (thread->stays.count == STAYS_MAX)
		draw_oldest(threads, thread);
	return stays_add(&thread->stays, stay);
}

void trace_threads_fault(struct trace_threads *threads, const struct explained *fault)
{
	struct thread *thread = hash_find(&threads->threads, fault->tid);
	const struct pfstat_off_cpu *stay;

	if (!thread)
		return;
	while ((stay = stays_oldest(&thread->stays)) && stay->off_ns < fault->end_ns) {
		draw(threads, thread, stay, fault->start_ns);
		stays_drop(&thread->stays);
	}
	if (thread->drawn_ns < fault->end_ns)
		thread->drawn_ns = fault->end_ns;
}

static int draw_rest(void *context, void *value)
{
	struct thread *thread = value;

	while (stays_oldest(&thread->stays))
		draw_oldest(context, thread);
	return 0;
}

void trace_threads_end(struct trace_threads *threads, uint32_t tid)
{
	struct thread *thread = hash_take(&threads->threads, tid);

	if (thread)
		draw_rest(threads, thread);
	thread_free(thread);
}

void trace_threads_finish(struct trace_threads *threads)
{
	hash_visit(&threads->threads, draw_rest, threads);
}
