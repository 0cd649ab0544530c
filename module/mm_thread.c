// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread slots, see mm_thread.h. Only a thread's first fault, a suspended fault, and the
 * thread's end come here.
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "mm_thread.h"

/* Maximum probe distance from a thread's home slot. */
#define MM_THREAD_REACH 64U

/* Slots changed at a time with interrupts off. */
#define MM_THREAD_CHUNK 256U

struct mm_thread *pfstat_mm_threads;
DEFINE_SPINLOCK(pfstat_mm_lock);
atomic_t pfstat_mm_suspended;

static atomic64_t missed_minor, missed_major, missed_threads, missed_children, links_lost;

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
		if ((READ_ONCE(thread->owner) & ~MM_THREAD_LEFT) == (unsigned long)task)
			return thread;
		if (!READ_ONCE(home->displaced))
			return NULL;
	}
	return NULL;
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
	mm_thread_read_counts(thread, current);
}

/* Under the lock. NULL: no room. */
static struct mm_thread *mm_thread_take(const struct task_struct *task)
{
	struct mm_thread *home = pfstat_mm_thread_home(task), *thread;
	unsigned int distance;

	for (distance = 0; distance < MM_THREAD_REACH; distance++) {
		thread = mm_thread_at(home, distance);
		if (thread->owner)
			continue;
		if (distance)
			WRITE_ONCE(home->displaced, home->displaced + 1);
		return thread;
	}
	return NULL;
}

/*
 * Retries the lock, because a kprobe comes here (retry.c), which may be a breakpoint that the
 * kernel handles like an NMI. lockdep accepts only the trial there. The probe runs in a process, so
 * it did not interrupt the holder.
 */
struct mm_thread *pfstat_mm_thread_any(void)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);
	unsigned long flags;

	if (thread)
		return thread;
	local_irq_save(flags);
	while (!spin_trylock(&pfstat_mm_lock))
		cpu_relax();
	thread = mm_thread_take(current);
	if (thread) {
		thread->state = MM_STATE_NONE;
		thread->waits = false;
		WRITE_ONCE(thread->owner, (unsigned long)current | MM_THREAD_LEFT);
	}
	spin_unlock(&pfstat_mm_lock);
	local_irq_restore(flags);
	return thread;
}

/* Moves whenever a fault in the thread completes (mm_account_fault()). */
static u32 mm_thread_completed_faults(void)
{
	return current->min_flt + current->maj_flt;
}

bool pfstat_mm_thread_is_clear_far(void)
{
	const struct mm_thread *thread = pfstat_mm_thread_of(current);

	return !thread || !data_race(thread->suspended_ns);
}

void pfstat_mm_thread_suspend(unsigned long page_address, u64 start_ns, u8 cause)
{
	struct mm_thread *thread = pfstat_mm_thread_any();

	if (!thread) {
		atomic64_inc(&links_lost);
		return;
	}
	if (!thread->suspended_ns)
		atomic_inc(&pfstat_mm_suspended);
	thread->suspended_page = page_address;
	thread->suspended_ns = start_ns;
	thread->suspended_faults = mm_thread_completed_faults();
	thread->cause = cause;
}

static void mm_thread_forget_suspended(struct mm_thread *thread)
{
	if (!thread->suspended_ns)
		return;
	thread->suspended_ns = 0;
	atomic_dec(&pfstat_mm_suspended);
}

struct mm_link pfstat_mm_thread_resume(unsigned long page_address)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);
	struct mm_link link = MM_LINK_NONE;

	if (!thread || !thread->suspended_ns)
		return link;
	/*
	 * Another page, or a fault that completed in between (another thread mapped the page, a
	 * signal handler ran): the suspended one is over.
	 */
	if (thread->suspended_page == page_address &&
	    thread->suspended_faults == mm_thread_completed_faults())
		link = (struct mm_link){ thread->suspended_ns, thread->cause };
	mm_thread_forget_suspended(thread);
	return link;
}

unsigned int pfstat_mm_thread_suspended(void)
{
	return atomic_read(&pfstat_mm_suspended);
}

u64 pfstat_mm_thread_links_lost(void)
{
	return atomic64_read(&links_lost);
}

/*
 * current's first fault since it is watched. The thread's counts start here, or, if the thread
 * started to run later than it was watched, at 0: then it may have had faults that did not come
 * here.
 */
struct mm_thread *pfstat_mm_thread_begin(u64 since_ns)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);

	if (!thread)
		thread = mm_thread_take(current);
	if (!thread) {
		atomic64_inc(&missed_threads);
		return NULL;
	}
	thread->state = MM_STATE_NONE;
	thread->waits = false;
	thread->minor = 0;
	thread->major = 0;
	if (current->start_time < since_ns)
		mm_thread_read_counts(thread, current);
	WRITE_ONCE(thread->owner, (unsigned long)current);
	return thread;
}

struct mm_thread *pfstat_mm_thread_borrow(void)
{
	struct mm_thread *thread;
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	thread = pfstat_mm_threads ? pfstat_mm_thread_begin(U64_MAX) : NULL;
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
	return thread;
}

void pfstat_mm_thread_return(struct mm_thread *thread)
{
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	/* A preempted call has left the whole record of a page that does not exist. */
	thread->waits = false;
	thread->state = MM_STATE_NONE;
	pfstat_mm_thread_leave(current);
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

struct mm_thread *pfstat_mm_thread_in_fault(void)
{
	struct mm_thread *thread = pfstat_mm_threads ? pfstat_mm_thread_of(current) : NULL;

	return thread && pfstat_mm_thread_is_owner(thread, current) &&
			       thread->state != MM_STATE_NONE ?
		       thread :
		       NULL;
}

void pfstat_mm_thread_leave(const struct task_struct *task)
{
	struct mm_thread *thread = pfstat_mm_thread_of(task);

	if (!thread)
		return;
	/* Another thread may be inside a fault that the task has already counted. */
	if (task == current && pfstat_mm_thread_is_owner(thread, task))
		pfstat_mm_thread_settle(thread, task);
	WRITE_ONCE(thread->owner, thread->owner | MM_THREAD_LEFT);
}

void pfstat_mm_thread_release(const struct task_struct *task)
{
	struct mm_thread *home = pfstat_mm_thread_home(task), *thread = pfstat_mm_thread_of(task);

	if (!thread)
		return;
	if (pfstat_mm_thread_is_owner(thread, task))
		pfstat_mm_thread_settle(thread, task);
	mm_thread_forget_suspended(thread);
	WRITE_ONCE(thread->owner, 0);
	if (thread != home)
		WRITE_ONCE(home->displaced, home->displaced - 1);
}

void pfstat_mm_thread_each(void (*change)(struct mm_thread *thread))
{
	struct mm_thread *thread = pfstat_mm_threads, *const end = thread + MM_THREAD_SLOTS;
	struct mm_thread *stop;
	unsigned long flags;

	while (thread && thread < end) {
		spin_lock_irqsave(&pfstat_mm_lock, flags);
		for (stop = thread + MM_THREAD_CHUNK; thread < stop; thread++)
			change(thread);
		spin_unlock_irqrestore(&pfstat_mm_lock, flags);
		cond_resched();
	}
}

void pfstat_mm_thread_forget_suspended(void)
{
	if (pfstat_mm_thread_suspended())
		pfstat_mm_thread_each(mm_thread_forget_suspended);
}

static void mm_thread_mark_left(struct mm_thread *thread)
{
	if (thread->owner)
		WRITE_ONCE(thread->owner, thread->owner | MM_THREAD_LEFT);
}

void pfstat_mm_thread_leave_all(void)
{
	pfstat_mm_thread_each(mm_thread_mark_left);
}

static void mm_thread_empty(struct mm_thread *thread)
{
	WRITE_ONCE(thread->owner, 0);
	WRITE_ONCE(thread->displaced, 0);
	thread->state = MM_STATE_NONE;
	thread->waits = false;
}

/* While the event was off, tasks with slots were freed. */
int pfstat_mm_thread_start(void)
{
	if (!pfstat_mm_threads)
		pfstat_mm_threads = vzalloc(array_size(MM_THREAD_SLOTS, sizeof(struct mm_thread)));
	pfstat_mm_thread_each(mm_thread_empty);
	return pfstat_mm_threads ? 0 : -ENOMEM;
}

void pfstat_mm_thread_missed_child(void)
{
	atomic64_inc(&missed_children);
}

struct mm_missed pfstat_mm_thread_missed(void)
{
	return (struct mm_missed){
		.minor = atomic64_read(&missed_minor),
		.major = atomic64_read(&missed_major),
		.threads = atomic64_read(&missed_threads),
		.children = atomic64_read(&missed_children),
	};
}

void pfstat_mm_thread_reset(void)
{
	atomic64_set(&missed_minor, 0);
	atomic64_set(&missed_major, 0);
	atomic64_set(&missed_threads, 0);
	atomic64_set(&missed_children, 0);
	atomic64_set(&links_lost, 0);
}

size_t pfstat_mm_thread_bytes(void)
{
	return pfstat_mm_threads ? array_size(MM_THREAD_SLOTS, sizeof(struct mm_thread)) : 0;
}

void pfstat_mm_thread_exit(void)
{
	vfree(pfstat_mm_threads);
}
