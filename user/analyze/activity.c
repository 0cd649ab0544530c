// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up each thread's off-CPU intervals and faults, from the thread's first to its last sign of
 * life. Keeps the sums for exited threads, and the exited thread that spent most of its life in
 * faults.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/activity.h"
#include "model/counters.h"
#include "model/item.h"

#define THREADS_MAX 16384U
/* A thread with a smaller share of the run in faults does not stand for it. */
#define STALLED_SHARE 1000U

struct active_thread {
	uint32_t pid, tid;
	uint64_t born_ns;	    /* 0: before the run */
	uint64_t first_ns, last_ns; /* signs of life, 0 if none */
	uint64_t off_ns, total_ns;  /* off-CPU time, and the last interval's total_ns */
	uint64_t waiting_ns;	    /* part of off_ns, runnable */
	uint64_t fault_ns, fault_off_ns, fault_waiting_ns;
};

static void active_thread_free(void *value)
{
	free(value);
}

void activity_exit(struct activity *activity)
{
	hash_exit(&activity->threads, active_thread_free);
}

static uint64_t activity_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* @ended: the thread was alive until to_ns */
static struct thread_activity thread_activity_of(const struct active_thread *thread,
						 uint64_t from_ns, uint64_t to_ns, bool ended)
{
	const uint64_t born_ns = thread->born_ns > from_ns ? thread->born_ns : from_ns;
	const uint64_t life_ns = item_elapsed(born_ns, to_ns);
	const uint64_t seen_ns = item_elapsed(thread->first_ns,
					      ended ? to_ns : activity_min(thread->last_ns, to_ns));
	struct thread_activity figures = {
		.pid = thread->pid,
		.tid = thread->tid,
		.life_ns = life_ns,
		.fault_ns = thread->fault_ns,
		.waiting_ns = item_elapsed(thread->fault_waiting_ns, thread->waiting_ns),
	};

	if (!thread->first_ns)
		return figures;
	figures.active_ns =
		activity_min(item_elapsed(thread->off_ns, seen_ns) + thread->fault_off_ns, seen_ns);
	figures.active_max_ns =
		activity_min(item_elapsed(thread->off_ns, life_ns) + thread->fault_off_ns, life_ns);
	return figures;
}

uint64_t activity_own_ns(const struct thread_activity *thread)
{
	return item_elapsed(thread->waiting_ns, thread->life_ns);
}

static double thread_stalled_share(const struct thread_activity *thread)
{
	const uint64_t own_ns = activity_own_ns(thread);

	return own_ns ? (double)thread->fault_ns / own_ns : 0;
}

/* Of threads with the same share, the one with the lowest number. They come in any order. */
static void activity_note_stalled(struct thread_activity *most,
				  const struct thread_activity *thread)
{
	const double share = thread_stalled_share(thread), most_share = thread_stalled_share(most);

	if (!most->tid || share > most_share || (share == most_share && thread->tid < most->tid))
		*most = *thread;
}

static void activity_sum(struct activity_figures *sum, const struct thread_activity *thread)
{
	sum->threads++;
	sum->life_ns += thread->life_ns;
	sum->waiting_ns += thread->waiting_ns;
	sum->active_ns += thread->active_ns;
	sum->active_max_ns += thread->active_max_ns;
}

static unsigned int activity_log2(uint64_t ns)
{
	return ns ? 63 - __builtin_clzll(ns) : 0;
}

static void activity_close(struct activity *activity, struct active_thread *thread, uint64_t to_ns,
			   bool ended)
{
	const struct thread_activity figures =
		thread_activity_of(thread, activity->first_ns, to_ns, ended);

	activity_sum(&activity->closed, &figures);
	if (figures.fault_ns)
		activity_note_stalled(&activity->stalled[activity_log2(figures.fault_ns)],
				      &figures);
	free(thread);
}

static bool activity_close_all(void *context, void *value)
{
	struct activity *activity = context;

	activity_close(activity, value, activity->anew_ns, false);
	return false;
}

/* Returns the thread, and adds it if it is new. NULL: no memory. */
static struct active_thread *activity_thread(struct activity *activity, uint32_t pid, uint32_t tid)
{
	struct active_thread *thread = hash_find(&activity->threads, tid);

	if (thread)
		return thread;
	if (activity->threads.count >= THREADS_MAX) {
		activity->anew_ns = activity->last_ns;
		if (hash_filter(&activity->threads, activity_close_all, activity))
			return NULL;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->pid = pid;
	thread->tid = tid;
	thread->born_ns = activity->anew_ns;
	if (!hash_add(&activity->threads, tid, thread))
		return thread;
	free(thread);
	return NULL;
}

static void activity_saw(struct activity *activity, struct active_thread *thread, uint64_t from_ns,
			 uint64_t to_ns)
{
	if (from_ns < thread->born_ns)
		from_ns = thread->born_ns;
	if (!thread->first_ns || from_ns < thread->first_ns)
		thread->first_ns = from_ns;
	if (!activity->first_ns || from_ns < activity->first_ns)
		activity->first_ns = from_ns;
	if (to_ns > thread->last_ns)
		thread->last_ns = to_ns;
	if (to_ns > activity->last_ns)
		activity->last_ns = to_ns;
}

static void activity_end(struct activity *activity, uint32_t tid, uint64_t ns)
{
	struct active_thread *thread = hash_take(&activity->threads, tid);

	if (!thread)
		return;
	activity_saw(activity, thread, ns, ns);
	activity_close(activity, thread, ns, true);
}

/* A thread executing a program takes the first thread's number. */
static int activity_renumber(struct activity *activity, uint32_t from, uint32_t to, uint64_t ns)
{
	struct active_thread *thread = hash_take(&activity->threads, from);

	if (!thread)
		return 0;
	activity_end(activity, to, ns);
	thread->tid = to;
	if (!hash_add(&activity->threads, to, thread))
		return 0;
	free(thread);
	return -ENOMEM;
}

int activity_add_task(struct activity *activity, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;
	struct active_thread *thread;
	int err = 0;

	if (event->flags & PFSTAT_TASK_EXIT) {
		activity_end(activity, event->tid, event->ns);
		return 0;
	}
	if (event->flags & PFSTAT_TASK_FORK)
		activity_end(activity, event->tid, event->ns); /* the exit was lost */
	if (event->flags & PFSTAT_TASK_EXEC && task->parent && task->parent != event->tid)
		err = activity_renumber(activity, task->parent, event->tid, event->ns);
	thread = err ? NULL : activity_thread(activity, event->pid, event->tid);
	if (!thread)
		return -ENOMEM;
	if (event->flags & PFSTAT_TASK_FORK)
		thread->born_ns = event->ns;
	if (event->flags)
		activity_saw(activity, thread, event->ns, event->ns);
	return 0;
}

int activity_add_off_cpu(struct activity *activity, const struct pfstat_off_cpu *interval)
{
	const struct pfstat_event *event = &interval->event;
	struct active_thread *thread = activity_thread(activity, event->pid, event->tid);
	const uint64_t length_ns = item_elapsed(interval->off_ns, event->ns);

	if (!thread)
		return -ENOMEM;
	thread->off_ns += item_elapsed(interval->off_ns > thread->born_ns ? interval->off_ns :
									    thread->born_ns,
				       event->ns);
	/* Intervals whose events were lost. */
	if (thread->total_ns)
		thread->off_ns += item_elapsed(thread->total_ns + length_ns, interval->total_ns);
	thread->total_ns = interval->total_ns;
	if (event->flags & PFSTAT_OFF_CPU_PREEMPTED)
		thread->waiting_ns += length_ns;
	else if (event->flags & PFSTAT_OFF_CPU_WOKEN)
		thread->waiting_ns += item_elapsed(interval->woken_ns, event->ns);
	activity_saw(activity, thread, interval->off_ns, event->ns);
	return 0;
}

int activity_add_fault(struct activity *activity, const struct explained *fault)
{
	struct active_thread *thread = activity_thread(activity, fault->pid, fault->tid);
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;

	if (!thread)
		return -ENOMEM;
	thread->fault_ns += whole_ns;
	thread->fault_off_ns +=
		item_elapsed(explained_cpu_ns(fault) + fault->reclaim_cpu_ns, whole_ns);
	thread->fault_waiting_ns += fault->parts_ns[PART_RUNQUEUE];
	activity_saw(activity, thread, fault->start_ns, fault->end_ns);
	return 0;
}

struct activity_listing {
	const struct activity *activity;
	struct activity_figures *figures;
	uint64_t from_ns, to_ns, stalled_ns;
};

static int activity_add_open(void *context, void *value)
{
	const struct activity_listing *listing = context;
	const struct thread_activity thread =
		thread_activity_of(value, listing->from_ns, listing->to_ns, false);

	activity_sum(listing->figures, &thread);
	if (thread.fault_ns && thread.fault_ns >= listing->stalled_ns)
		activity_note_stalled(&listing->figures->stalled, &thread);
	return 0;
}

void activity_figures(const struct activity *activity, uint64_t from_ns, uint64_t to_ns,
		      struct activity_figures *figures)
{
	struct activity_listing listing = {
		.activity = activity,
		.figures = figures,
		.from_ns = from_ns == COUNT_NA ? activity->first_ns : from_ns,
		.to_ns = to_ns == COUNT_NA ? activity->last_ns : to_ns,
	};
	unsigned int i;

	*figures = activity->closed;
	/* A power of two, so the exited-threads table has the same threads. */
	i = activity_log2(item_elapsed(listing.from_ns, listing.to_ns) / STALLED_SHARE);
	listing.stalled_ns = 1ULL << i;
	for (; i < 64; i++)
		if (activity->stalled[i].tid)
			activity_note_stalled(&figures->stalled, &activity->stalled[i]);
	hash_visit(&activity->threads, activity_add_open, &listing);
}
