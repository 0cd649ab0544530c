// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes are watched, see mm_watch.h. Commands name them, and the new-task event adds the
 * children of followed processes before the children run. The freed-task event comes before the
 * task_struct and the signal_struct can belong to another task.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include "mm_watch.h"

#define WATCHED_BITS 10

struct mm_watched {
	struct hlist_node node;
	struct rcu_head rcu;
	const struct signal_struct *signal;
	const struct task_struct *thread; /* NULL: all threads in the process */
	u64 since_ns;			  /* as task_struct.start_time */
	enum pfstat_target how;
};

u16 pfstat_mm_filter[BIT(MM_FILTER_BITS)];

static DEFINE_HASHTABLE(watched_table, WATCHED_BITS); /* by signal */
static struct tracepoint *new_event, *free_event;
static bool watch_started;
/* So many are emptying the table. Meanwhile no child is added to a bucket already emptied. */
static atomic_t watch_endings;

/* The users of the slots, which must be emptied when their tasks are freed. */
static DEFINE_MUTEX(watch_mutex);
static unsigned int watch_users;

static struct hlist_head *watched_bucket(const struct signal_struct *signal)
{
	return &watched_table[pfstat_mm_hash(signal, WATCHED_BITS)];
}

/* thread: NULL to find the process's entry, else the single thread's entry. */
static struct mm_watched *watched_find(const struct signal_struct *signal,
				       const struct task_struct *thread)
{
	struct mm_watched *watched;

	hlist_for_each_entry_rcu(watched, watched_bucket(signal), node,
				 lockdep_is_held(&pfstat_mm_lock))
		if (watched->signal == signal && watched->thread == thread)
			return watched;
	return NULL;
}

/*
 * True: the task is watched, and since_ns is the start time. Under the lock, or in an RCU section.
 * In an RCU section it may have changed already.
 */
static bool is_watched(const struct task_struct *task, u64 *since_ns)
{
	const struct mm_watched *watched = watched_find(task->signal, NULL) ?:
						   watched_find(task->signal, task);

	if (watched)
		*since_ns = watched->since_ns;
	return watched;
}

struct mm_thread *pfstat_mm_find_thread(void)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);
	unsigned long flags;
	u64 since_ns;
	bool watched;

	if (thread && pfstat_mm_thread_is_owner(thread, current))
		return thread;
	/* Most threads that come here are not watched, but share a hash with a watched one. */
	rcu_read_lock();
	watched = is_watched(current, &since_ns);
	rcu_read_unlock();
	if (!watched)
		return NULL;
	spin_lock_irqsave(&pfstat_mm_lock, flags);
	thread = is_watched(current, &since_ns) ? pfstat_mm_thread_begin(since_ns) : NULL;
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
	return thread;
}

/* Under the lock. */
static void watched_count(const struct signal_struct *signal, int by)
{
	u16 *count = &pfstat_mm_filter[pfstat_mm_hash(signal, MM_FILTER_BITS)];

	WRITE_ONCE(*count, *count + by);
}

/* Under the lock. */
static void watched_remove(struct mm_watched *watched)
{
	if (!watched)
		return;
	hash_del_rcu(&watched->node);
	watched_count(watched->signal, -1);
	kfree_rcu(watched, rcu);
}

/* thread: NULL to watch the whole process. Under the lock. 0 or -ENOMEM. */
static int watched_add(const struct signal_struct *signal, const struct task_struct *thread,
		       enum pfstat_target how, u64 since_ns)
{
	struct mm_watched *watched = watched_find(signal, thread);

	if (watched) {
		WRITE_ONCE(watched->how, how);
		return 0;
	}
	watched = kzalloc(sizeof(*watched), GFP_ATOMIC);
	if (!watched)
		return -ENOMEM;
	watched->signal = signal;
	watched->thread = thread;
	watched->how = how;
	watched->since_ns = since_ns;
	hlist_add_head_rcu(&watched->node, watched_bucket(signal));
	watched_count(signal, 1);
	return 0;
}

/* A task found by number in an RCU section is not freed before the section ends. */
int pfstat_mm_watch(pid_t number, enum pfstat_target how)
{
	struct task_struct *task;
	unsigned long flags;
	int err = -ESRCH;

	rcu_read_lock();
	task = pid_task(find_vpid(number), PIDTYPE_PID);
	if (task) {
		spin_lock_irqsave(&pfstat_mm_lock, flags);
		err = watched_add(task->signal, how == PFSTAT_TARGET_THREAD ? task : NULL, how,
				  ktime_get_ns());
		spin_unlock_irqrestore(&pfstat_mm_lock, flags);
	}
	rcu_read_unlock();
	return err;
}

static void watch_end_process(struct task_struct *task)
{
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	watched_remove(watched_find(task->signal, task));
	if (thread_group_leader(task))
		watched_remove(watched_find(task->signal, NULL));
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

static void watch_leave(const struct task_struct *thread)
{
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	pfstat_mm_thread_leave(thread);
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

/*
 * A process may have 100,000 threads, so the lock is taken for each. No thread gets a slot any
 * more, because pfstat_mm_find_thread() asks under the lock whether the process is watched.
 */
void pfstat_mm_ignore(pid_t number)
{
	struct task_struct *task, *thread;

	rcu_read_lock();
	task = pid_task(find_vpid(number), PIDTYPE_PID);
	if (task) {
		watch_end_process(task);
		if (thread_group_leader(task))
			for_each_thread(task, thread) watch_leave(thread);
		else
			watch_leave(task);
	}
	rcu_read_unlock();
}

static void watch_empty_bucket(struct hlist_head *bucket)
{
	struct hlist_node *next;
	struct mm_watched *watched;
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	hlist_for_each_entry_safe(watched, next, bucket, node) watched_remove(watched);
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

void pfstat_mm_ignore_all(void)
{
	unsigned int i;

	atomic_inc(&watch_endings);
	for (i = 0; i < HASH_SIZE(watched_table); i++) {
		watch_empty_bucket(&watched_table[i]);
		cond_resched();
	}
	atomic_dec(&watch_endings);
	pfstat_mm_thread_leave_all();
}

/* A thread in a watched process needs no entry. */
static void watch_on_new(void *data, struct task_struct *child, unsigned long clone_flags)
{
	const struct mm_watched *parent;
	unsigned long flags;

	if (child->signal == current->signal || !pfstat_mm_may_be_watched(current))
		return;
	spin_lock_irqsave(&pfstat_mm_lock, flags);
	parent = watched_find(current->signal, NULL);
	if (parent && parent->how == PFSTAT_TARGET_FOLLOW && !atomic_read(&watch_endings) &&
	    watched_add(child->signal, NULL, PFSTAT_TARGET_FOLLOW, child->start_time))
		pfstat_mm_thread_missed_child();
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

/*
 * nr_threads is 0 once the last thread in the process was released, which happens before that
 * thread is freed.
 */
static void watch_on_free(void *data, struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	unsigned long flags;

	if (!pfstat_mm_may_be_watched(task) && !pfstat_mm_thread_of(task))
		return;
	spin_lock_irqsave(&pfstat_mm_lock, flags);
	pfstat_mm_thread_release(task);
	watched_remove(watched_find(signal, task));
	if (!READ_ONCE(signal->nr_threads))
		watched_remove(watched_find(signal, NULL));
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

static void watch_find_event(struct tracepoint *event, void *data)
{
	if (!strcmp(event->name, "task_newtask"))
		new_event = event;
	else if (!strcmp(event->name, "sched_process_free"))
		free_event = event;
}

static int watch_make_slots(void)
{
	for_each_kernel_tracepoint(watch_find_event, NULL);
	if (!new_event || !free_event) {
		pr_err("the kernel has no event task_newtask or sched_process_free\n");
		return -ENODEV;
	}
	return pfstat_mm_thread_start() ?:
					  tracepoint_probe_register(free_event, watch_on_free, NULL);
}

int pfstat_mm_watch_open(void)
{
	int err = 0;

	mutex_lock(&watch_mutex);
	if (!watch_users)
		err = watch_make_slots();
	watch_users += !err;
	mutex_unlock(&watch_mutex);
	return err;
}

void pfstat_mm_watch_close(void)
{
	mutex_lock(&watch_mutex);
	if (!--watch_users) {
		tracepoint_probe_unregister(free_event, watch_on_free, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&watch_mutex);
}

int pfstat_mm_watch_start(void)
{
	int err;

	if (watch_started)
		return 0;
	err = pfstat_mm_watch_open();
	if (err)
		return err;
	err = tracepoint_probe_register(new_event, watch_on_new, NULL);
	if (err)
		pfstat_mm_watch_close();
	watch_started = !err;
	return err;
}

void pfstat_mm_watch_stop(void)
{
	if (!watch_started)
		return;
	tracepoint_probe_unregister(new_event, watch_on_new, NULL);
	tracepoint_synchronize_unregister();
	watch_started = false;
	/* A child may have been added since. */
	pfstat_mm_ignore_all();
	pfstat_mm_watch_close();
}
