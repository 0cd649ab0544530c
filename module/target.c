// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is watched. Additions come from commands, from the fork probe, from
 * the do_mmap probe (atomic) and from ->open below the mmap lock; so the
 * tables have a spinlock of their own and are read under RCU.
 */
#include <linux/fs.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "shadow.h"
#include "target.h"

#define TARGET_HASH_BITS 8

static DEFINE_HASHTABLE(processes, TARGET_HASH_BITS);
static DEFINE_HASHTABLE(mms, TARGET_HASH_BITS);
static DEFINE_SPINLOCK(targets_lock);
static bool targets_open;		/* under targets_lock */
static bool targets_fault_around;	/* fixed while open */
static struct pfstat_file targets_only;	/* fixed while open */

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

static bool maps_file(const struct vm_area_struct *vma, const struct pfstat_file *file)
{
	return !file->opened || file_inode(vma->vm_file) == file->real ||
	       compat_user_inode(vma->vm_file) == file->opened;
}

bool pfstat_target_wants(const struct vm_area_struct *vma)
{
	return vma->vm_file && maps_file(vma, &targets_only);
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

/* Under targets_lock. Returns what is not needed: one that is there already is widened. */
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
		*made = (struct watched_mm) {
			.mm = mm, .pid = pid, .future = future, .follow = follow,
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

/* As hook_mm() chooses them: with file, its mappings alone. */
static bool is_chosen(const struct vm_area_struct *vma, const struct pfstat_file *file)
{
	return pfstat_target_wants(vma) && (!file || maps_file(vma, file));
}

int pfstat_target_prepare_mm(struct mm_struct *mm, const struct pfstat_file *file)
{
	struct vm_area_struct *vma;
	int err;

	err = mmap_read_lock_killable(mm);
	if (err)
		return err;
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma))	/* where a fork that failed stopped copying */
			break;
		if (is_chosen(vma, file))
			err = pfstat_shadow_prepare(vma, targets_fault_around, GFP_KERNEL);
		if (err)
			break;
	}
	mmap_read_unlock(mm);
	return err;
}

static int hook_vma(struct vm_area_struct *vma, struct pfstat_hook_result *result)
{
	int err;

	compat_vma_start_write(vma);
	err = pfstat_shadow_hook(vma, targets_fault_around, GFP_KERNEL);
	if (err == -ENOMEM)
		return err;
	if (err)
		result->refused++;
	else
		result->hooked++;
	return 0;
}

int pfstat_target_hook_mm(struct mm_struct *mm, const struct pfstat_file *file,
			  struct pfstat_hook_result *result)
{
	struct vm_area_struct *vma;
	int err;

	*result = (struct pfstat_hook_result) { 0 };
	err = mmap_write_lock_killable(mm);
	if (err)
		return err;
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma))
			break;
		if (!is_chosen(vma, file))
			continue;
		err = hook_vma(vma, result);
		if (err)
			break;
	}
	mmap_write_unlock(mm);
	return err;
}

static void unhook_mm(struct mm_struct *mm)
{
	struct vm_area_struct *vma;

	/* Not killable: a killed recorder must unhook all the same. */
	mmap_write_lock(mm);
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma))
			break;
		if (!pfstat_shadow_hooked(vma))
			continue;
		compat_vma_start_write(vma);
		pfstat_shadow_unhook(vma);
	}
	mmap_write_unlock(mm);
}

/*
 * The next live address space at or after *bucket, *skip entries into it. The
 * table may grow between two calls: then an entry can be visited twice, and a
 * new one be missed. Who must not miss any closes the list first and keeps
 * pfstat_target_reap() away.
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
			if (mmget_not_zero(watched->mm))
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
		mmput_async(copy.mm);	/* the last put may be ours: not in our locks */
		cond_resched();
	}
}

static void visit_hook(struct watched_mm *watched, void *data)
{
	struct pfstat_hook_result result;

	if (watched->future)
		pfstat_target_hook_mm(watched->mm, NULL, &result);
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
			mm = task ? get_task_mm(task) : NULL;
			if (mm)
				return mm;
		}
	}
	return NULL;
}

/* Processes whose memory is not known: they executed a program when there was no room. */
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
		mmput_async(mm);
		cond_resched();
	}
}

static bool is_followed(struct task_struct *task)
{
	struct watched_mm *watched = NULL;
	bool follow;

	task_lock(task);	/* it keeps its mm */
	if (task->mm && !(task->flags & PF_KTHREAD))
		watched = pfstat_target_find_mm(task->mm);
	follow = watched && watched->follow;
	task_unlock(task);
	return follow;
}

/* Children that are known by their memory alone: there was no room when they were born. */
static void find_processes(void)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		if (is_followed(task) && !pfstat_target_find_process(task_tgid(task)))
			pfstat_target_add_process(task_tgid(task), true,
						  GFP_NOWAIT | __GFP_NOWARN);
	rcu_read_unlock();
}

void pfstat_target_hook_all(void)
{
	find_processes();
	find_mms();
	pfstat_target_visit_mms(visit_hook, NULL);
}

static void visit_unhook(struct watched_mm *watched, void *data)
{
	unhook_mm(watched->mm);
}

static void free_process_rcu(struct rcu_head *rcu)
{
	process_discard(container_of(rcu, struct watched_process, rcu));
}

/* Whoever still reads it may look for its task: the reference goes with it. */
static void free_process(struct watched_process *process)
{
	hash_del_rcu(&process->node);
	call_rcu(&process->rcu, free_process_rcu);
}

void pfstat_target_free(struct list_head *dead)
{
	struct watched_mm *watched, *next;

	list_for_each_entry_safe(watched, next, dead, dead) {
		mmdrop(watched->mm);
		kfree(watched);
	}
}

/* Frees what was taken out of the table, once no reader can try its mm's users. */
static void free_mms(struct list_head *dead)
{
	if (list_empty(dead))
		return;
	synchronize_rcu();
	pfstat_target_free(dead);
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

	/* A leader that has ended stays visible while its threads run. */
	return leader && (!(leader->flags & PF_EXITING) || !thread_group_empty(leader));
}

/*
 * No VMA of a dead address space can lead to a shadow any more: its users are
 * gone and exit_mmap() has emptied the tree, which it does last. The count of
 * references says less: a CPU that idles with these page tables, or an open
 * /proc/PID/mem, may hold one for hours.
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

static bool reap_mms(bool living_too, struct list_head *dead)
{
	struct watched_mm *watched;
	struct hlist_node *next;
	bool empty = true;
	int bucket, users;

	hash_for_each_safe(mms, bucket, next, watched, node) {
		users = atomic_read(&watched->mm->mm_users);
		if (mm_dead(watched) || (users && living_too)) {
			hash_del_rcu(&watched->node);
			list_add(&watched->dead, dead);
		} else if (users) {
			empty = false;
		}
	}
	return empty;
}

static bool reap(bool living_too, struct list_head *dead)
{
	bool empty;

	spin_lock(&targets_lock);
	empty = reap_processes(living_too);
	empty &= reap_mms(living_too, dead);
	spin_unlock(&targets_lock);
	return empty;
}

bool pfstat_target_reap(void)
{
	LIST_HEAD(dead);
	bool empty = reap(false, &dead);

	free_mms(&dead);
	return empty;
}

void pfstat_target_unhook_all(struct list_head *dead)
{
	/* Nothing is added any more, and ->open unhooks: one walk is enough. */
	pfstat_target_visit_mms(visit_unhook, NULL);
	reap(true, dead);
}

bool pfstat_target_all_gone(void)
{
	pfstat_target_reap();
	return hash_empty(mms);
}

void pfstat_target_exit(void)
{
	struct watched_mm *watched;
	struct hlist_node *next;
	LIST_HEAD(dead);
	int bucket;

	spin_lock(&targets_lock);
	hash_for_each_safe(mms, bucket, next, watched, node) {
		hash_del_rcu(&watched->node);
		list_add(&watched->dead, &dead);
	}
	spin_unlock(&targets_lock);
	free_mms(&dead);
	rcu_barrier();	/* free_process_rcu() is code of this module */
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
	return bytes;
}
