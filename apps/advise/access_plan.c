// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the recorded events from all threads into steps that a replay executes. The events come
 * from recorded_accesses.c, and repetition.c executes the steps.
 */
#include <errno.h>
#include <stdlib.h>

#include "advise/access_plan.h"
#include "util/array.h"

static struct plan_thread *plan_thread_new(struct access_plan *plan, uint32_t tid)
{
	struct plan_thread *thread;

	if (array_reserve((void **)&plan->threads, plan->nr_threads, &plan->thread_capacity,
			  sizeof(*plan->threads)))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	hash_take(&plan->by_tid, tid);
	if (hash_add(&plan->by_tid, tid, thread)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	plan->threads[plan->nr_threads++] = thread;
	return thread;
}

static int plan_thread_add(struct plan_thread *thread, const struct plan_event *event)
{
	if (array_reserve((void **)&thread->events, thread->nr_events, &thread->event_capacity,
			  sizeof(*thread->events)))
		return -ENOMEM;
	thread->events[thread->nr_events++] = *event;
	return 0;
}

int access_plan_add(struct access_plan *plan, uint32_t tid, const struct plan_event *event)
{
	struct plan_thread *thread = hash_find(&plan->by_tid, tid) ?: plan_thread_new(plan, tid);

	return thread ? plan_thread_add(thread, event) : -ENOMEM;
}

/* A thread's signal at a time. Another thread will wait for it. */
static int plan_signal(struct access_plan *plan, struct plan_thread *thread, uint64_t ns,
		       uint32_t *number)
{
	const struct plan_event event = {
		.start_ns = ns,
		.end_ns = ns,
		.type = PLAN_EVENT_SIGNAL,
		.mapping = plan->nr_signals,
	};

	*number = plan->nr_signals++;
	return plan_thread_add(thread, &event);
}

int access_plan_fork(struct access_plan *plan, uint32_t tid, uint32_t parent, uint64_t ns)
{
	struct plan_thread *from = hash_find(&plan->by_tid, parent);
	struct plan_thread *thread;

	if (!from)
		from = plan_thread_new(plan, parent);
	thread = plan_thread_new(plan, tid);
	if (!from || !thread)
		return -ENOMEM;
	thread->forked = true;
	thread->start_ns = ns;
	return plan_signal(plan, from, ns, &thread->fork_signal);
}

static bool plan_event_is_left_out(const struct access_plan *plan, const struct plan_event *event)
{
	switch (event->type) {
	case PLAN_EVENT_MAPPED:
	case PLAN_EVENT_ADVICE:
	case PLAN_EVENT_TOUCH:
		return plan->left_out && plan->left_out[event->mapping];
	default:
		return false;
	}
}

/* The time of dropped events becomes the thread's own, and the sleeps are repeated. */
static void plan_thread_drop(const struct access_plan *plan, struct plan_thread *thread)
{
	size_t i, kept = 0;

	for (i = 0; i < thread->nr_events; i++)
		if (!plan_event_is_left_out(plan, &thread->events[i]))
			thread->events[kept++] = thread->events[i];
	thread->nr_events = kept;
}

static int plan_event_by_start(const void *a, const void *b)
{
	const struct plan_event *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return left->type < right->type ? -1 : left->type > right->type;
}

static void plan_thread_sort(struct plan_thread *thread)
{
	if (thread->nr_events)
		qsort(thread->events, thread->nr_events, sizeof(*thread->events),
		      plan_event_by_start);
}

/*
 * Gives each sleep between faults the thread that ended it: waker becomes 1 + a signal number, or
 * 0. Signals are added to other threads, which are sorted afterwards.
 */
static int plan_link_sleeps(struct access_plan *plan, struct plan_thread *thread)
{
	const size_t nr = thread->nr_events;
	struct plan_thread *waker;
	struct plan_event *event;
	uint64_t busy_until = 0;
	uint32_t number;
	size_t i;

	for (i = 0; i < nr; i++) {
		event = &thread->events[i];
		if (event->type != PLAN_EVENT_OFF_CPU) {
			if (event->end_ns > busy_until)
				busy_until = event->end_ns;
			continue;
		}
		waker = event->waker ? hash_find(&plan->by_tid, event->waker) : NULL;
		event->waker = 0;
		if (!waker || waker == thread || event->runnable || !event->woken_ns ||
		    event->start_ns < busy_until || event->woken_ns < waker->start_ns)
			continue;
		if (plan_signal(plan, waker, event->woken_ns, &number))
			return -ENOMEM;
		event->waker = 1 + number;
	}
	return 0;
}

static int plan_add_step(struct plan_thread *thread, const struct plan_step *step)
{
	if (array_reserve((void **)&thread->steps, thread->nr_steps, &thread->step_capacity,
			  sizeof(*thread->steps)))
		return -ENOMEM;
	thread->steps[thread->nr_steps++] = *step;
	return 0;
}

/* Joins a time step to a previous step of the same type. */
static int plan_add_time(struct plan_thread *thread, enum plan_step_type type, uint64_t ns)
{
	struct plan_step *last = thread->nr_steps ? &thread->steps[thread->nr_steps - 1] : NULL;

	if (!ns)
		return 0;
	if (last && last->type == type) {
		last->value += ns;
		return 0;
	}
	return plan_add_step(thread, &(struct plan_step){ .type = type, .value = ns });
}

/*
 * Signals up to the moment at which a wait ended precede it, even if the clocks of CPUs differ:
 * waits then cannot form a cycle.
 */
static int plan_add_signals_until(struct plan_thread *thread, size_t next, uint64_t woken_ns)
{
	struct plan_event *event;
	int err = 0;

	for (; next < thread->nr_events && !err; next++) {
		event = &thread->events[next];
		if (event->start_ns > woken_ns)
			break;
		if (event->type != PLAN_EVENT_SIGNAL)
			continue;
		event->type = PLAN_EVENT_SENT;
		err = plan_add_step(thread, &(struct plan_step){ .type = PLAN_SIGNAL,
								 .mapping = event->mapping });
	}
	return err;
}

static int plan_add_sleep(struct plan_thread *thread, const struct plan_event *event)
{
	const uint64_t woken = event->woken_ns > event->start_ns ? event->woken_ns : event->end_ns;

	if (event->waker)
		return plan_add_step(thread, &(struct plan_step){ .type = PLAN_WAIT,
								  .mapping = event->waker - 1 });
	if (event->runnable)
		return 0;
	return plan_add_time(thread, PLAN_SLEEP, woken - event->start_ns);
}

static int plan_add_event(struct access_plan *plan, struct plan_thread *thread,
			  const struct plan_event *event)
{
	struct plan_step step = { .value = event->page,
				  .pages = event->pages,
				  .mapping = event->mapping,
				  .advice = event->advice };

	switch (event->type) {
	case PLAN_EVENT_SIGNAL:
		step.type = PLAN_SIGNAL;
		break;
	case PLAN_EVENT_MAPPED:
		step.type = PLAN_MAPPED;
		break;
	case PLAN_EVENT_ADVICE:
		step.type = PLAN_ADVISE;
		break;
	case PLAN_EVENT_TOUCH:
		step.type = PLAN_TOUCH;
		plan->nr_touches++;
		break;
	case PLAN_EVENT_OFF_CPU:
		return plan_add_sleep(thread, event);
	default:
		return 0;
	}
	return plan_add_step(thread, &step);
}

/* Faults within madvise(2) come from the kernel, not from an access by the program. */
static bool is_of_advice(const struct plan_event *event, uint64_t advice_until)
{
	return event->type == PLAN_EVENT_TOUCH && event->start_ns < advice_until;
}

/* The thread's own time before an event. After a fault, a part of it is the instruments'. */
static int plan_add_gap(const struct access_plan *plan, struct plan_thread *thread, uint64_t ns,
			uint64_t *extra_ns)
{
	const uint64_t extra = *extra_ns < ns ? *extra_ns : ns;

	*extra_ns -= extra;
	return plan_add_time(thread, plan->have_off_cpu ? PLAN_RUN : PLAN_SLEEP, ns - extra);
}

static int plan_add_start(const struct access_plan *plan, struct plan_thread *thread)
{
	if (thread->forked)
		return plan_add_step(thread, &(struct plan_step){ .type = PLAN_WAIT,
								  .mapping = thread->fork_signal });
	thread->start_ns = plan->start_ns;
	return 0;
}

static int plan_thread_build(struct access_plan *plan, struct plan_thread *thread)
{
	uint64_t now, advice_until = 0, extra_ns = 0;
	const struct plan_event *event;
	int err = plan_add_start(plan, thread);
	size_t i;

	now = thread->start_ns;
	for (i = 0; i < thread->nr_events && !err; i++) {
		event = &thread->events[i];
		/* Off the CPU within a fault: the replay does the same again. */
		if (event->type == PLAN_EVENT_OFF_CPU && event->start_ns < now) {
			now = event->end_ns > now ? event->end_ns : now;
			continue;
		}
		if (is_of_advice(event, advice_until))
			continue;
		if (event->type == PLAN_EVENT_ADVICE)
			advice_until = event->end_ns;
		if (event->start_ns > now)
			err = plan_add_gap(plan, thread, event->start_ns - now, &extra_ns);
		if (!err && event->type == PLAN_EVENT_OFF_CPU && event->waker)
			err = plan_add_signals_until(thread, i + 1, event->woken_ns);
		if (!err)
			err = plan_add_event(plan, thread, event);
		if (event->type == PLAN_EVENT_TOUCH)
			extra_ns = plan->fault_extra_ns;
		if (event->start_ns > now)
			now = event->start_ns;
		if (event->end_ns > now)
			now = event->end_ns;
	}
	return err;
}

int access_plan_build(struct access_plan *plan)
{
	int err = 0;
	size_t i;

	for (i = 0; i < plan->nr_threads; i++)
		plan_thread_drop(plan, plan->threads[i]);
	for (i = 0; i < plan->nr_threads && plan->have_off_cpu && !err; i++) {
		plan_thread_sort(plan->threads[i]);
		err = plan_link_sleeps(plan, plan->threads[i]);
	}
	for (i = 0; i < plan->nr_threads && !err; i++) {
		plan_thread_sort(plan->threads[i]);
		err = plan_thread_build(plan, plan->threads[i]);
	}
	return err;
}

void access_plan_exit(struct access_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_threads; i++) {
		free(plan->threads[i]->events);
		free(plan->threads[i]->steps);
		free(plan->threads[i]);
	}
	free(plan->threads);
	hash_exit(&plan->by_tid, NULL);
	*plan = (struct access_plan){ 0 };
}
