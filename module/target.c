// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watched processes and address spaces, and the address spaces of ended sessions that are still
 * hooked. Additions come from commands, from the fork probe, from the do_mmap probe (atomic) and
 * from ->open below the mmap lock. So the tables have a separate spinlock and are read under RCU.
 * hook.c walks the VMAs in the address spaces.
 */
#include <linux/fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "target.h"

#define TARGET_HASH_BITS 8

static DEFINE_HASHTABLE(processes, TARGET_HASH_BITS);
static DEFINE_HASHTABLE(mms, TARGET_HASH_BITS);
static DEFINE_SPINLOCK(targets_lock);
static bool targets_open;		/* under targets_lock */
static bool targets_fault_around;	/* fixed while open */
static struct pfstat_file targets_only; /* fixed while open */

/* Address spaces from ended sessions whose VMAs may still be hooked. Under targets_lock. */
static LIST_HEAD(targets_retired);
static atomic_t targets_retired_count;

void pfstat_target_open(bool fault_around, const struct pfstat_file *only)
{
	spin_lock(&targets_lock);
	targets_fault_around = fault_around;
	targets_only = *only;
	WRITE_ONCE(targets_open, true);
	spin_unlock(&targets_lock);
}

bool pfstat_target_is_open(void)
{
	return READ_ONCE(targets_open);
}

bool pfstat_target_fault_around(void)
{
	return targets_fault_around;
}

bool pfstat_target_maps_file(const struct vm_area_struct *vma, const struct pfstat_file *file)
{
	return !file->opened || file_inode(vma->vm_file) == file->real ||
	       compat_user_inode(vma->vm_file) == file->opened;
}

bool pfstat_target_wants(const struct vm_area_struct *vma)
{
	return vma->vm_file && pfstat_target_maps_file(vma, &targets_only);
}

struct watched_process *pfstat_target_find_process(struct pid *pid)
{
	struct watched_process *process;

	hash_for_each_possible_rcu(processes, process, node, (unsigned long)pid,
				   lockdep_is_held(&targets_lock))
		if (process->pid == pid)
			return process;
	return NULL;
}

struct watched_mm *pfstat_target_find_mm(struct mm_struct *mm)
{
	struct watched_mm *watched;

	hash_for_each_possible_rcu(mms, watched, node, (unsigned long)mm,
				   lockdep_is_held(&targets_lock))
		if (watched->mm == mm)
			return watched;
	return NULL;
}

static struct watched_process *process_make(struct pid *pid, bool follow, gfp_t gfp)
{
	struct watched_process *made = kzalloc(sizeof(*made), gfp);

	if (!made)
		return NULL;
	made->pid = get_pid(pid);
	made->follow = follow;
	return made;
}

static void process_discard(struct watched_process *made)
{
	if (!made)
		return;
	put_pid(made->pid);
	kfree(made);
}

/* Under targets_lock. Returns `made` if it was not used, because an existing entry was widened. */
static struct watched_process *process_insert(struct watched_process *made)
{
	struct watched_process *there = pfstat_target_find_process(made->pid);

	if (there) {
		there->follow |= made->follow;
		return made;
	}
	hash_add_rcu(processes, &made->node, (unsigned long)made->pid);
	return NULL;
}

static struct watched_mm *mm_make(struct mm_struct *mm, pid_t pid, bool future, bool follow,
				  gfp_t gfp)
{
	struct watched_mm *made = kzalloc(sizeof(*made), gfp);

	if (made)
		*made = (struct watched_mm){
			.mm = mm,
			.pid = pid,
			.future = future,
			.follow = follow,
		};
	return made;
}

/* As process_insert(). */
static struct watched_mm *mm_insert(struct watched_mm *made)
{
	struct watched_mm *there = pfstat_target_find_mm(made->mm);

	if (there) {
		there->pid = there->pid ?: made->pid;
		there->future |= made->future;
		there->follow |= made->follow;
		return made;
	}
	mmgrab(made->mm);
	hash_add_rcu(mms, &made->node, (unsigned long)made->mm);
	return NULL;
}

int pfstat_target_add_process(struct pid *pid, bool follow, gfp_t gfp)
{
	struct watched_process *made = process_make(pid, follow, gfp);
	int err = 0;

	if (!made)
		return -ENOMEM;
	spin_lock(&targets_lock);
	if (targets_open)
		made = process_insert(made);
	else
		err = -ESHUTDOWN;
	spin_unlock(&targets_lock);
	process_discard(made);
	return err;
}

int pfstat_target_add_mm(struct mm_struct *mm, pid_t pid, bool future, bool follow, gfp_t gfp)
{
	struct watched_mm *made = mm_make(mm, pid, future, follow, gfp);
	int err = 0;

	if (!made)
		return -ENOMEM;
	spin_lock(&targets_lock);
	if (targets_open)
		made = mm_insert(made);
	else
		err = -ESHUTDOWN;
	spin_unlock(&targets_lock);
	kfree(made);
	return err;
}

int pfstat_target_add(struct pid *pid, struct mm_struct *mm, pid_t number, bool follow)
{
	struct watched_process *process = process_make(pid, follow, GFP_KERNEL);
	struct watched_mm *watched = mm_make(mm, number, true, follow, GFP_KERNEL);
	int err = -ENOMEM;

	if (process && watched) {
		spin_lock(&targets_lock);
		err = targets_open ? 0 : -ESHUTDOWN;
		if (!err) {
			process = process_insert(process);
			watched = mm_insert(watched);
		}
		spin_unlock(&targets_lock);
	}
	process_discard(process);
	kfree(watched);
	return err;
}

bool pfstat_target_is_watched(struct mm_struct *mm)
{
	bool watched;

	rcu_read_lock();
	watched = pfstat_target_find_mm(mm);
	rcu_read_unlock();
	return watched;
}

/*
 * The next address space at or after *bucket, *skip entries into the bucket. The table may grow
 * between two calls: then an entry can be visited twice, and a new entry missed. The struct is
 * held, not the users: the last user to go would have to free all the memory, and the process would
 * be gone before the memory and the open files.
 */
static struct watched_mm *next_mm(unsigned int *bucket, unsigned int *skip)
{
	struct watched_mm *watched;
	unsigned int i;

	for (; *bucket < HASH_SIZE(mms); ++*bucket, *skip = 0) {
		i = 0;
		hlist_for_each_entry_rcu(watched, &mms[*bucket], node) {
			if (i++ < *skip)
				continue;
			++*skip;
			if (pfstat_target_is_exiting(watched->mm))
				continue;
			mmgrab(watched->mm);
			return watched;
		}
	}
	return NULL;
}

void pfstat_target_visit_mms(pfstat_mm_visitor visit, void *data)
{
	unsigned int bucket = 0, skip = 0;
	struct watched_mm *watched, copy;

	for (;;) {
		rcu_read_lock();
		watched = next_mm(&bucket, &skip);
		if (watched)
			copy = *watched;
		rcu_read_unlock();
		if (!watched)
			return;
		visit(&copy, data);
		mmdrop(copy.mm);
		cond_resched();
	}
}

struct mm_struct *pfstat_target_grab_mm(struct task_struct *task)
{
	struct mm_struct *mm = NULL;

	task_lock(task); /* it keeps its mm */
	if (task->mm && !(task->flags & PF_KTHREAD)) {
		mm = task->mm;
		mmgrab(mm);
	}
	task_unlock(task);
	return mm;
}

/* The next process at or after *bucket, *skip entries into it, that has memory. */
static struct mm_struct *next_process_mm(unsigned int *bucket, unsigned int *skip,
					 struct watched_process *copy)
{
	struct watched_process *process;
	struct task_struct *task;
	struct mm_struct *mm;
	unsigned int i;

	for (; *bucket < HASH_SIZE(processes); ++*bucket, *skip = 0) {
		i = 0;
		hlist_for_each_entry_rcu(process, &processes[*bucket], node) {
			if (i++ < *skip)
				continue;
			++*skip;
			*copy = *process;
			task = pid_task(process->pid, PIDTYPE_TGID);
			mm = task ? pfstat_target_grab_mm(task) : NULL;
			if (mm)
				return mm;
		}
	}
	return NULL;
}

/* Adds the memory of processes that executed a program when the atomic allocation failed. */
static void find_mms(void)
{
	unsigned int bucket = 0, skip = 0;
	struct watched_process process;
	struct mm_struct *mm;
	pid_t number;

	for (;;) {
		rcu_read_lock();
		mm = next_process_mm(&bucket, &skip, &process);
		number = mm ? pid_nr(process.pid) : 0;
		rcu_read_unlock();
		if (!mm)
			return;
		/* Without memory now, too: the caller comes again at the next miss. */
		pfstat_target_add_mm(mm, number, true, process.follow, GFP_KERNEL);
		mmdrop(mm);
		cond_resched();
	}
}

static bool is_followed(struct task_struct *task)
{
	struct watched_mm *watched = NULL;
	bool follow;

	task_lock(task); /* it keeps its mm */
	if (task->mm && !(task->flags & PF_KTHREAD))
		watched = pfstat_target_find_mm(task->mm);
	follow = watched && watched->follow;
	task_unlock(task);
	return follow;
}

/* Adds the processes with followed memory: the atomic allocation failed when they were born. */
static void find_processes(void)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		if (is_followed(task) && !pfstat_target_find_process(task_tgid(task)))
			pfstat_target_add_process(task_tgid(task), true, GFP_NOWAIT | __GFP_NOWARN);
	rcu_read_unlock();
}

void pfstat_target_find_missed(void)
{
	find_processes();
	find_mms();
}

static void free_process_rcu(struct rcu_head *rcu)
{
	process_discard(container_of(rcu, struct watched_process, rcu));
}

/* A reader may still look for the task, so the reference goes with the entry. */
static void free_process(struct watched_process *process)
{
	hash_del_rcu(&process->node);
	call_rcu(&process->rcu, free_process_rcu);
}

/* Frees the removed entries, once no reader can try their mm's users. */
static void free_mms(struct list_head *dead)
{
	struct watched_mm *watched, *next;

	if (list_empty(dead))
		return;
	synchronize_rcu();
	list_for_each_entry_safe(watched, next, dead, dead) {
		mmdrop(watched->mm);
		kfree(watched);
	}
}

void pfstat_target_shut(void)
{
	spin_lock(&targets_lock);
	WRITE_ONCE(targets_open, false);
	spin_unlock(&targets_lock);
}

static bool process_lives(const struct watched_process *process)
{
	struct task_struct *leader = pid_task(process->pid, PIDTYPE_TGID);

	/* An ended leader stays visible while other threads run. */
	return leader && (!(leader->flags & PF_EXITING) || !thread_group_empty(leader));
}

/*
 * No VMA in a dead address space can lead to a shadow any more: the users are gone, and exit_mmap()
 * has emptied the tree, which is the last thing it does. The reference count is not sufficient: a
 * CPU idling with these page tables, or an open /proc/PID/mem, may hold one for hours.
 * mm-dead.litmus has the order of the two checks.
 */
static bool mm_dead(const struct watched_mm *watched)
{
	return !atomic_read_acquire(&watched->mm->mm_users) && mtree_empty(&watched->mm->mm_mt);
}

static bool reap_processes(bool living_too)
{
	struct watched_process *process;
	struct hlist_node *next;
	bool empty = true;
	int bucket;

	rcu_read_lock();
	hash_for_each_safe(processes, bucket, next, process, node) {
		if (living_too || !process_lives(process))
			free_process(process);
		else
			empty = false;
	}
	rcu_read_unlock();
	return empty;
}

static bool reap_mms(struct list_head *dead)
{
	struct watched_mm *watched;
	struct hlist_node *next;
	bool empty = true;
	int bucket;

	hash_for_each_safe(mms, bucket, next, watched, node) {
		if (mm_dead(watched)) {
			hash_del_rcu(&watched->node);
			list_add(&watched->dead, dead);
		} else if (!pfstat_target_is_exiting(watched->mm)) {
			empty = false;
		}
	}
	return empty;
}

bool pfstat_target_reap(void)
{
	LIST_HEAD(dead);
	bool empty;

	spin_lock(&targets_lock);
	empty = reap_processes(false);
	empty &= reap_mms(&dead);
	spin_unlock(&targets_lock);
	free_mms(&dead);
	return empty;
}

/* Under targets_lock. */
static void retire_mm(struct watched_mm *watched)
{
	hash_del_rcu(&watched->node);
	list_add_tail(&watched->dead, &targets_retired);
	atomic_inc(&targets_retired_count);
}

void pfstat_target_retire(void)
{
	struct watched_mm *watched;
	struct hlist_node *next;
	int bucket;

	spin_lock(&targets_lock);
	reap_processes(true);
	hash_for_each_safe(mms, bucket, next, watched, node)
		retire_mm(watched);
	spin_unlock(&targets_lock);
}

bool pfstat_target_is_known(struct pid *pid, struct mm_struct *mm)
{
	bool known;

	rcu_read_lock();
	known = pfstat_target_find_process(pid) || pfstat_target_find_mm(mm);
	rcu_read_unlock();
	return known;
}

void pfstat_target_forget(struct pid *pid, struct mm_struct *mm)
{
	struct watched_process *process;
	struct watched_mm *watched;

	spin_lock(&targets_lock);
	process = pfstat_target_find_process(pid);
	if (process)
		free_process(process);
	watched = pfstat_target_find_mm(mm);
	if (watched)
		retire_mm(watched);
	spin_unlock(&targets_lock);
}

bool pfstat_target_release(bool (*unhook)(struct mm_struct *mm))
{
	struct watched_mm *watched, *next;
	LIST_HEAD(todo);
	LIST_HEAD(done);
	bool all = true;

	spin_lock(&targets_lock);
	list_splice_init(&targets_retired, &todo);
	spin_unlock(&targets_lock);

	list_for_each_entry_safe(watched, next, &todo, dead) {
		bool living = !pfstat_target_is_exiting(watched->mm);

		if (living ? unhook(watched->mm) : mm_dead(watched)) {
			list_move(&watched->dead, &done);
			atomic_dec(&targets_retired_count);
		} else if (living) {
			all = false;
		}
		cond_resched();
	}

	spin_lock(&targets_lock);
	list_splice(&todo, &targets_retired);
	spin_unlock(&targets_lock);
	free_mms(&done);
	return all;
}

unsigned int pfstat_target_retired(void)
{
	return atomic_read(&targets_retired_count);
}

void pfstat_target_exit(void)
{
	free_mms(&targets_retired);
	rcu_barrier(); /* free_process_rcu() is code in this module */
}

size_t pfstat_target_bytes(void)
{
	struct watched_process *process;
	struct watched_mm *watched;
	size_t bytes = 0;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(processes, bucket, process, node)
		bytes += sizeof(*process);
	hash_for_each_rcu(mms, bucket, watched, node)
		bytes += sizeof(*watched);
	rcu_read_unlock();
	return bytes + pfstat_target_retired() * sizeof(*watched);
}
