// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the moments in which each thread runs outside faults, and adds them and the faults to the
 * process's overlap. An off-CPU interval does not show whether it is within a fault, so it waits
 * for the thread's next fault.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/standstill.h"
#include "model/item.h"

#define THREADS_MAX   16384U
#define INTERVALS_MAX 64U

struct still_interval {
	uint64_t off_ns, woken_ns, on_ns; /* asleep until woken_ns, then runnable */
};

struct still_process {
	uint32_t pid;
	char name[16];
	uint64_t threads;	/* with signs of life, ended ones too */
	uint64_t living;	/* among these, alive */
	uint64_t known_from_ns; /* latest first sign of a thread older than the process */
	uint64_t missed_ns;	/* runs in it may be none */
	bool faulted;
	struct fault_overlap overlap;
};

struct still_thread {
	struct still_process *process;
	uint32_t tid;
	uint64_t first_ns;		  /* the first sign of life */
	uint64_t settled_ns;		  /* runs and faults up to here are in the overlap */
	uint64_t last_ns;		  /* the last sign of life */
	uint64_t total_ns;		  /* in the last interval */
	struct still_interval *intervals; /* not settled, in time order */
	size_t nr;
};

static void still_thread_free(void *value)
{
	struct still_thread *thread = value;

	free(thread->intervals);
	free(thread);
}

static void still_process_free(void *value)
{
	struct still_process *process = value;

	fault_overlap_exit(&process->overlap);
	free(process);
}

void standstill_exit(struct standstill *standstill)
{
	hash_exit(&standstill->threads, still_thread_free);
	hash_exit(&standstill->processes, still_process_free);
}

static void still_process_figures(const struct still_process *process, uint64_t known_to_ns,
				  struct process_standstill *figures)
{
	struct overlap_figures overlap;

	fault_overlap_figures(&process->overlap, process->known_from_ns, known_to_ns, &overlap);
	*figures = (struct process_standstill){
		.pid = process->pid,
		.threads = process->threads,
		.still = overlap.faults,
		.several = overlap.several,
	};
	figures->still.max_ns += process->missed_ns;
	figures->several.max_ns += process->missed_ns;
	memcpy(figures->name, process->name, sizeof(figures->name));
}

static void standstill_compare(struct process_standstill *most,
			       const struct process_standstill *process)
{
	if (process->still.max_ns > most->still.max_ns ||
	    (most->pid > process->pid && process->still.max_ns == most->still.max_ns))
		*most = *process;
}

/* All threads in the process have ended. */
static void standstill_close(struct standstill *standstill, struct still_process *process)
{
	struct process_standstill figures;

	still_process_figures(process, UINT64_MAX, &figures);
	standstill_compare(&standstill->most, &figures);
	standstill->ended += process->faulted;
	still_process_free(process);
}

static bool standstill_keep_living(void *context, void *value)
{
	struct still_process *process = value;

	if (process->living)
		return true;
	standstill_close(context, process);
	return false;
}

/* NULL with 0: it is left out. */
static int standstill_process(struct standstill *standstill, uint32_t pid,
			      struct still_process **found)
{
	struct still_process *process = hash_find(&standstill->processes, pid);

	*found = process;
	if (process)
		return 0;
	if (standstill->processes.count >= STANDSTILL_PROCESSES &&
	    hash_filter(&standstill->processes, standstill_keep_living, standstill))
		return -ENOMEM;
	if (standstill->processes.count >= STANDSTILL_PROCESSES) {
		standstill->incomplete = true;
		return 0;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->overlap.chunks_max = STANDSTILL_CHUNKS;
	*found = process;
	if (!hash_add(&standstill->processes, pid, process))
		return 0;
	free(process);
	return -ENOMEM;
}

static int still_thread_runs(struct still_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	return fault_overlap_add_run(&thread->process->overlap, from_ns, to_ns);
}

static void still_thread_drop_intervals(struct still_thread *thread, size_t nr)
{
	if (!nr)
		return;
	thread->nr -= nr;
	memmove(thread->intervals, thread->intervals + nr, thread->nr * sizeof(*thread->intervals));
}

/* No fault contains a moment before until_ns: the thread runs, except in the intervals. */
static int still_thread_settle(struct still_thread *thread, uint64_t until_ns)
{
	const struct still_interval *interval;
	uint64_t at_ns = thread->settled_ns;
	size_t i;
	int err = 0;

	for (i = 0; i < thread->nr && thread->intervals[i].on_ns <= until_ns && !err; i++) {
		interval = &thread->intervals[i];
		err = still_thread_runs(thread, at_ns, interval->off_ns);
		at_ns = interval->off_ns > at_ns ? interval->off_ns : at_ns;
		if (!err)
			err = still_thread_runs(thread,
						interval->woken_ns > at_ns ? interval->woken_ns :
									     at_ns,
						interval->on_ns);
		at_ns = interval->on_ns > at_ns ? interval->on_ns : at_ns;
	}
	still_thread_drop_intervals(thread, i);
	/* CPU clocks differ: an interval may seem to end later. */
	if (!err)
		err = still_thread_runs(thread, at_ns,
					thread->nr && thread->intervals[0].off_ns < until_ns ?
						thread->intervals[0].off_ns :
						until_ns);
	if (until_ns > thread->settled_ns)
		thread->settled_ns = until_ns;
	return err;
}

/* Settles the oldest intervals, up to the end of the last one. */
static int still_thread_settle_some(struct still_thread *thread, size_t nr)
{
	return nr ? still_thread_settle(thread, thread->intervals[nr - 1].on_ns) : 0;
}

static int still_thread_settle_all(void *context, void *value)
{
	struct still_thread *thread = value;

	(void)context;
	return still_thread_settle_some(thread, thread->nr);
}

int standstill_finish(struct standstill *standstill)
{
	return hash_visit_sorted(&standstill->threads, still_thread_settle_all, standstill);
}

static void standstill_end_thread(struct standstill *standstill, uint32_t tid)
{
	struct still_thread *thread = hash_take(&standstill->threads, tid);

	if (!thread)
		return;
	thread->process->living--;
	still_thread_free(thread);
}

static bool standstill_drop_thread(void *context, void *value)
{
	(void)context;
	still_thread_free(value);
	return false;
}

static bool standstill_drop_process(void *context, void *value)
{
	standstill_close(context, value);
	return false;
}

/* Drops the state of living threads: time not settled yet counts as sleep. */
static int standstill_start_anew(struct standstill *standstill)
{
	return hash_filter(&standstill->threads, standstill_drop_thread, NULL) ?:
		       hash_filter(&standstill->processes, standstill_drop_process, standstill);
}

/*
 * @first_ns: the thread's first sign of life. @born: it starts there. NULL with 0: it is left out.
 */
static int standstill_add_thread(struct standstill *standstill, uint32_t pid, uint32_t tid,
				 uint64_t first_ns, bool born, struct still_thread **found)
{
	struct still_process *process;
	struct still_thread *thread;
	int err;

	*found = NULL;
	if (standstill->threads.count >= THREADS_MAX && standstill_start_anew(standstill))
		return -ENOMEM;
	err = standstill_process(standstill, pid, &process);
	if (err || !process)
		return err;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	*thread = (struct still_thread){
		.process = process,
		.tid = tid,
		.first_ns = first_ns,
		.settled_ns = first_ns,
		.last_ns = first_ns,
	};
	if (hash_add(&standstill->threads, tid, thread)) {
		free(thread);
		return -ENOMEM;
	}
	process->threads++;
	process->living++;
	if (!born && first_ns > process->known_from_ns)
		process->known_from_ns = first_ns;
	*found = thread;
	return 0;
}

static int standstill_thread(struct standstill *standstill, uint32_t pid, uint32_t tid,
			     uint64_t first_ns, struct still_thread **found)
{
	*found = hash_find(&standstill->threads, tid);
	if (*found && (*found)->process->pid == pid)
		return 0;
	standstill_end_thread(standstill, tid); /* the exit was lost */
	return standstill_add_thread(standstill, pid, tid, first_ns, false, found);
}

static void still_thread_saw(struct still_thread *thread, uint64_t ns)
{
	if (ns > thread->last_ns)
		thread->last_ns = ns;
}

static int standstill_name(struct standstill *standstill, const struct pfstat_task *task)
{
	struct still_process *process;
	int err = standstill_process(standstill, task->event.pid, &process);

	if (!err && process)
		memcpy(process->name, task->comm, sizeof(process->name) - 1);
	return err;
}

static int standstill_begin_thread(struct standstill *standstill, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;
	struct still_process *process;
	struct still_thread *thread;

	standstill_end_thread(standstill, event->tid);
	/* A new process with an exited process's number. */
	if (event->pid == event->tid) {
		process = hash_find(&standstill->processes, event->pid);
		if (process && !process->living)
			standstill_close(standstill, hash_take(&standstill->processes, event->pid));
	}
	return standstill_add_thread(standstill, event->pid, event->tid, event->ns, true, &thread);
}

/* The thread ran until the exit: an event would have had an interval after the last one. */
static int standstill_exit_thread(struct standstill *standstill, const struct pfstat_event *event)
{
	struct still_thread *thread = hash_find(&standstill->threads, event->tid);
	int err = thread ? still_thread_settle(thread, event->ns) : 0;

	standstill_end_thread(standstill, event->tid);
	return err;
}

/* A thread executing a program takes the number of the first thread, which has ended. */
static int standstill_renumber(struct standstill *standstill, uint32_t from, uint32_t to)
{
	struct still_thread *thread = hash_take(&standstill->threads, from);

	if (!thread)
		return 0;
	standstill_end_thread(standstill, to);
	thread->tid = to;
	if (!hash_add(&standstill->threads, to, thread))
		return 0;
	thread->process->living--;
	still_thread_free(thread);
	return -ENOMEM;
}

int standstill_add_task(struct standstill *standstill, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;
	int err = 0;

	if (event->flags & PFSTAT_TASK_EXIT)
		return standstill_exit_thread(standstill, event);
	if (event->flags & PFSTAT_TASK_FORK)
		err = standstill_begin_thread(standstill, task);
	if (event->flags & PFSTAT_TASK_EXEC && task->parent && task->parent != event->tid)
		err = standstill_renumber(standstill, task->parent, event->tid);
	return err || event->pid != event->tid ? err : standstill_name(standstill, task);
}

/* Off the CPU at an unknown time: it may be any time that counts as runs. */
static void still_thread_lose(struct still_thread *thread, const struct pfstat_off_cpu *interval)
{
	const uint64_t length_ns = item_elapsed(interval->off_ns, interval->event.ns);

	if (thread->total_ns && interval->total_ns)
		thread->process->missed_ns +=
			item_elapsed(thread->total_ns + length_ns, interval->total_ns);
	thread->total_ns = interval->total_ns;
}

int standstill_add_off_cpu(struct standstill *standstill, const struct pfstat_off_cpu *interval)
{
	const struct pfstat_event *event = &interval->event;
	struct still_interval *added;
	struct still_thread *thread;
	int err = standstill_thread(standstill, event->pid, event->tid, interval->off_ns, &thread);

	if (err || !thread)
		return err;
	if (!thread->intervals)
		thread->intervals = calloc(INTERVALS_MAX, sizeof(*thread->intervals));
	if (!thread->intervals)
		return -ENOMEM;
	if (thread->nr == INTERVALS_MAX)
		err = still_thread_settle_some(thread, INTERVALS_MAX / 2);
	still_thread_lose(thread, interval);
	added = &thread->intervals[thread->nr++];
	*added = (struct still_interval){ interval->off_ns, event->ns, event->ns };
	if (event->flags & PFSTAT_OFF_CPU_PREEMPTED)
		added->woken_ns = interval->off_ns;
	else if (event->flags & PFSTAT_OFF_CPU_WOKEN)
		added->woken_ns = interval->woken_ns;
	else
		standstill->wakeup_missing = true;
	still_thread_saw(thread, event->ns);
	return err;
}

int standstill_add_fault(struct standstill *standstill, const struct explained *fault)
{
	struct still_thread *thread;
	size_t within = 0;
	int err = standstill_thread(standstill, fault->pid, fault->tid, fault->start_ns, &thread);

	if (err || !thread)
		return err;
	/*
	 * The thread slept so often in the fault that the intervals were settled before the fault
	 * arrived.
	 */
	thread->process->missed_ns +=
		item_elapsed(fault->start_ns > thread->first_ns ? fault->start_ns :
								  thread->first_ns,
			     thread->settled_ns < fault->end_ns ? thread->settled_ns :
								  fault->end_ns);
	err = still_thread_settle(thread, fault->start_ns);
	while (within < thread->nr && thread->intervals[within].on_ns <= fault->end_ns)
		within++;
	still_thread_drop_intervals(thread, within);
	if (fault->end_ns > thread->settled_ns)
		thread->settled_ns = fault->end_ns;
	still_thread_saw(thread, fault->end_ns);
	thread->process->faulted = true;
	return err ? err :
		     fault_overlap_add(&thread->process->overlap, fault->start_ns, fault->end_ns);
}

struct standstill_listing {
	const struct standstill *standstill;
	struct standstill_figures *figures;
	const struct still_process *process;
	uint64_t known_to_ns;
};

static int standstill_find_last(void *context, void *value)
{
	struct standstill_listing *listing = context;
	const struct still_thread *thread = value;

	if (thread->process == listing->process && thread->last_ns < listing->known_to_ns)
		listing->known_to_ns = thread->last_ns;
	return 0;
}

static int standstill_list(void *context, void *value)
{
	struct standstill_listing *listing = context;
	struct process_standstill figures;

	listing->process = value;
	listing->known_to_ns = UINT64_MAX;
	listing->figures->processes += listing->process->faulted;
	if (listing->process->living)
		hash_visit(&listing->standstill->threads, standstill_find_last, listing);
	still_process_figures(listing->process, listing->known_to_ns, &figures);
	standstill_compare(&listing->figures->most, &figures);
	return 0;
}

void standstill_figures(const struct standstill *standstill, struct standstill_figures *figures)
{
	struct standstill_listing listing = { .standstill = standstill, .figures = figures };

	*figures = (struct standstill_figures){
		.most = standstill->most,
		.processes = standstill->ended,
		.complete = !standstill->incomplete,
		.wakeups_known = !standstill->wakeup_missing,
	};
	hash_visit(&standstill->processes, standstill_list, &listing);
	if (figures->wakeups_known)
		return;
	figures->most.still.min_ns = 0;
	figures->most.several.min_ns = 0;
}
