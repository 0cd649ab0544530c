// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads whose faults are counted; see mm_thread.h. Commands name threads and processes, and
 * the fork event adds their threads and children before these run. The event of a task's end
 * removes the task: after its last fault, and before its task_struct can belong to another one.
 */
#include <linux/atomic.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include "mm_thread.h"

/* So far from its home a thread may lie. */
#define MM_THREAD_REACH 64U

struct mm_thread *pfstat_mm_threads;

static DEFINE_SPINLOCK(mm_threads_lock);
static struct tracepoint *fork_event, *free_event;
static bool mm_thread_started;
static atomic64_t missed_minor, missed_major, missed_threads;

static struct mm_thread *mm_thread_at(const struct mm_thread *home, unsigned int distance)
{
	const size_t index = home - pfstat_mm_threads + distance;

	return &pfstat_mm_threads[index % MM_THREAD_SLOTS];
}

struct mm_thread *pfstat_mm_thread_of(const struct task_struct *task)
{
	struct mm_thread *home = pfstat_mm_thread_home(task), *thread;
	unsigned int distance;

	for (distance = 0; distance < MM_THREAD_REACH; distance++) {
		thread = mm_thread_at(home, distance);
		if ((READ_ONCE(thread->owner) & ~MM_THREAD_FRESH) == (unsigned long)task)
			return thread;
		if (!(READ_ONCE(home->attention) & ~MM_HOME_FRESH))
			return NULL;
	}
	return NULL;
}

static struct mm_thread *mm_thread_free(const struct task_struct *task)
{
	struct mm_thread *home = pfstat_mm_thread_home(task);
	unsigned int distance;

	for (distance = 0; distance < MM_THREAD_REACH; distance++)
		if (!mm_thread_at(home, distance)->owner)
			return mm_thread_at(home, distance);
	return NULL;
}

/* Under the lock. True: it was not there before. */
static bool mm_thread_insert(const struct task_struct *task, enum pfstat_target how)
{
	struct mm_thread *home = pfstat_mm_thread_home(task), *thread = pfstat_mm_thread_of(task);

	if (thread) {
		thread->how = how;
		return false;
	}
	thread = mm_thread_free(task);
	if (!thread) {
		atomic64_inc(&missed_threads);
		return false;
	}
	thread->how = how;
	WRITE_ONCE(thread->owner, (unsigned long)task | MM_THREAD_FRESH);
	if (thread == home)
		WRITE_ONCE(home->attention, home->attention | MM_HOME_FRESH);
	else
		WRITE_ONCE(home->attention, home->attention + 1);
	return true;
}

/* Under the lock. */
static void mm_thread_remove(const struct task_struct *task, struct mm_thread *thread)
{
	struct mm_thread *home = pfstat_mm_thread_home(task);

	WRITE_ONCE(thread->owner, 0);
	if (thread == home)
		WRITE_ONCE(home->attention, home->attention & ~MM_HOME_FRESH);
	else
		WRITE_ONCE(home->attention, home->attention - 1);
}

static void mm_thread_read_counts(struct mm_thread *thread, const struct task_struct *task)
{
	thread->minor = task->min_flt;
	thread->major = task->maj_flt;
}

void pfstat_mm_thread_settle(struct mm_thread *thread, const struct task_struct *task)
{
	const u64 minor = task->min_flt - thread->minor, major = task->maj_flt - thread->major;

	if (!(minor | major))
		return;
	atomic64_add(minor, &missed_minor);
	atomic64_add(major, &missed_major);
	mm_thread_read_counts(thread, task);
}

void pfstat_mm_thread_pass_over(struct mm_thread *thread)
{
	thread->noted = false;
	mm_thread_read_counts(thread, current);
}

/* The first fault of a thread that is watched: its counts begin here. */
static void mm_thread_begin(struct mm_thread *thread)
{
	struct mm_thread *home = pfstat_mm_thread_home(current);
	unsigned long flags;

	spin_lock_irqsave(&mm_threads_lock, flags);
	if (thread->owner == ((unsigned long)current | MM_THREAD_FRESH)) {
		thread->noted = false;
		mm_thread_read_counts(thread, current);
		WRITE_ONCE(thread->owner, (unsigned long)current);
		if (thread == home)
			WRITE_ONCE(home->attention, home->attention & ~MM_HOME_FRESH);
	}
	spin_unlock_irqrestore(&mm_threads_lock, flags);
}

struct mm_thread *pfstat_mm_thread_find(void)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);

	if (thread && READ_ONCE(thread->owner) & MM_THREAD_FRESH)
		mm_thread_begin(thread);
	return thread;
}

/* All threads that are not watched yet. True: there was one, so others may have come meanwhile. */
static bool mm_process_insert(struct task_struct *process, enum pfstat_target how)
{
	struct task_struct *thread;
	unsigned long flags;
	bool any = false;

	spin_lock_irqsave(&mm_threads_lock, flags);
	for_each_thread(process, thread) any |= mm_thread_insert(thread, how);
	spin_unlock_irqrestore(&mm_threads_lock, flags);
	return any;
}

/*
 * A task that is found by its number within a section of RCU is not freed, nor reported as freed,
 * before the section ends. A thread that clones before it is in the table has linked the new one
 * before, so the walk is repeated until it finds all in the table.
 */
int pfstat_mm_thread_watch(pid_t number, enum pfstat_target how)
{
	const u64 missed = atomic64_read(&missed_threads);
	struct task_struct *task;
	unsigned long flags;
	int err = -ESRCH;

	rcu_read_lock();
	task = pid_task(find_vpid(number), PIDTYPE_PID);
	if (task && how == PFSTAT_TARGET_THREAD) {
		spin_lock_irqsave(&mm_threads_lock, flags);
		mm_thread_insert(task, how);
		spin_unlock_irqrestore(&mm_threads_lock, flags);
	} else if (task) {
		while (mm_process_insert(task, how))
			;
	}
	if (task)
		err = atomic64_read(&missed_threads) == missed ? 0 : -ENOSPC;
	rcu_read_unlock();
	return err;
}

static void mm_thread_forget(struct task_struct *task, bool settle)
{
	struct mm_thread *thread;
	unsigned long flags;

	spin_lock_irqsave(&mm_threads_lock, flags);
	thread = pfstat_mm_thread_of(task);
	if (thread) {
		if (settle && !(thread->owner & MM_THREAD_FRESH))
			pfstat_mm_thread_settle(thread, task);
		mm_thread_remove(task, thread);
	}
	spin_unlock_irqrestore(&mm_threads_lock, flags);
}

/* Another thread may be inside of a fault, which the task has counted already. */
void pfstat_mm_thread_ignore(pid_t number)
{
	struct task_struct *process, *thread;

	rcu_read_lock();
	process = pid_task(find_vpid(number), PIDTYPE_PID);
	if (!process)
		goto out;
	if (process == current || !thread_group_leader(process)) {
		mm_thread_forget(process, process == current);
		goto out;
	}
	for_each_thread(process, thread) mm_thread_forget(thread, false);
out:
	rcu_read_unlock();
}

void pfstat_mm_thread_ignore_all(void)
{
	struct mm_thread *thread;
	unsigned long flags;

	if (!pfstat_mm_threads)
		return;
	spin_lock_irqsave(&mm_threads_lock, flags);
	for (thread = pfstat_mm_threads; thread < pfstat_mm_threads + MM_THREAD_SLOTS; thread++) {
		WRITE_ONCE(thread->owner, 0);
		WRITE_ONCE(thread->attention, 0);
	}
	spin_unlock_irqrestore(&mm_threads_lock, flags);
}

/* The parent's slot determines whether the new thread or process is watched also. */
static void mm_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const bool is_thread = child->tgid == parent->tgid;
	struct mm_thread *thread;
	unsigned long flags;

	spin_lock_irqsave(&mm_threads_lock, flags);
	thread = pfstat_mm_thread_of(parent);
	if (thread && thread->how != PFSTAT_TARGET_THREAD &&
	    (is_thread || thread->how == PFSTAT_TARGET_FOLLOW))
		mm_thread_insert(child, thread->how);
	spin_unlock_irqrestore(&mm_threads_lock, flags);
}

static void mm_on_free(void *data, struct task_struct *task)
{
	/* Without the lock: most tasks are not watched, and this one cannot be added any more. */
	if (pfstat_mm_thread_of(task))
		mm_thread_forget(task, true);
}

static void mm_find_event(struct tracepoint *event, void *data)
{
	if (!strcmp(event->name, "sched_process_fork"))
		fork_event = event;
	else if (!strcmp(event->name, "sched_process_free"))
		free_event = event;
}

static int mm_probe_events(void)
{
	int err;

	for_each_kernel_tracepoint(mm_find_event, NULL);
	if (!fork_event || !free_event)
		return -ENOENT;
	err = tracepoint_probe_register(free_event, mm_on_free, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(fork_event, mm_on_fork, NULL);
	if (err)
		tracepoint_probe_unregister(free_event, mm_on_free, NULL);
	return err;
}

int pfstat_mm_thread_start(void)
{
	int err;

	if (!pfstat_mm_threads)
		pfstat_mm_threads = vzalloc(array_size(MM_THREAD_SLOTS, sizeof(struct mm_thread)));
	if (!pfstat_mm_threads)
		return -ENOMEM;
	err = mm_thread_started ? 0 : mm_probe_events();
	mm_thread_started = !err;
	return err;
}

void pfstat_mm_thread_stop(void)
{
	if (!mm_thread_started)
		return;
	tracepoint_probe_unregister(fork_event, mm_on_fork, NULL);
	tracepoint_probe_unregister(free_event, mm_on_free, NULL);
	tracepoint_synchronize_unregister();
	mm_thread_started = false;
	pfstat_mm_thread_ignore_all();
}

struct mm_missed pfstat_mm_thread_missed(void)
{
	return (struct mm_missed){
		.minor = atomic64_read(&missed_minor),
		.major = atomic64_read(&missed_major),
		.threads = atomic64_read(&missed_threads),
	};
}

void pfstat_mm_thread_reset(void)
{
	atomic64_set(&missed_minor, 0);
	atomic64_set(&missed_major, 0);
	atomic64_set(&missed_threads, 0);
}

size_t pfstat_mm_thread_bytes(void)
{
	return pfstat_mm_threads ? array_size(MM_THREAD_SLOTS, sizeof(struct mm_thread)) : 0;
}

void pfstat_mm_thread_exit(void)
{
	vfree(pfstat_mm_threads);
}
