// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps up with targets: new mappings, copies, forks, execs and exits change the lists of target.c
 * and the hooks.
 *
 * do_mmap() returns with the mmap lock (and the new VMA's own) write-held, before MAP_POPULATE and
 * before any fault. The kretprobe on do_mmap() hooks the VMA there, for mmap(2), the ELF loader and
 * shmat alike. The probe must not sleep. A failure (no memory, no free probe instance) is counted,
 * and the work below hooks the VMA later. The copies made by a fork call ->open, below both mmap
 * locks. The fork event reports the new process, whose exec calls do_mmap later.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "follow.h"
#include "hook.h"
#include "in_flight.h"
#include "shadow.h"
#include "target.h"

/* More tasks than this inside do_mmap() at once are missed (and made good). */
#define FOLLOW_MAX_ACTIVE 512
#define FOLLOW_PERIOD	  HZ

static atomic64_t follow_missed;
static atomic_t follow_hook_again;
static int follow_nmissed; /* misses seen so far, owned by the work */
static bool follow_started;
static void (*follow_idle)(void);
static struct tracepoint *fork_event;

/*
 * The queue is private: a work item runs once at a time, and can be waited for, only if it is
 * always queued on the same one, and the kernel's default has changed.
 */
static struct workqueue_struct *follow_queue;
static void follow_tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(follow_work, follow_tick);

void pfstat_follow_again(void)
{
	atomic_set(&follow_hook_again, 1);
	mod_delayed_work(follow_queue, &follow_work, 0);
}

/* Does not change the time of a queued tick. */
static void tick_later(void)
{
	queue_delayed_work(follow_queue, &follow_work, FOLLOW_PERIOD);
}

static void missed(void)
{
	atomic64_inc(&follow_missed);
	pfstat_follow_again();
}

u64 pfstat_follow_missed(void)
{
	return atomic64_read(&follow_missed);
}

/* Adds a fork's copy, if it is also watched. */
static bool follow_fork(struct mm_struct *child)
{
	struct watched_mm *parent;
	bool follow, future;
	int err;

	if (!current->mm)
		return false;
	rcu_read_lock();
	parent = pfstat_target_find_mm(current->mm);
	follow = parent && parent->follow;
	future = parent && parent->future;
	rcu_read_unlock();
	if (!follow)
		return false;
	err = pfstat_target_add_mm(child, 0, future, true, GFP_KERNEL);
	if (err == -ENOMEM)
		missed();
	return !err;
}

static bool is_watched_open(struct mm_struct *mm)
{
	bool watched;

	rcu_read_lock();
	watched = pfstat_target_is_open() && pfstat_target_find_mm(mm);
	rcu_read_unlock();
	return watched;
}

/* After a split or mremap() the mm is in the table. No other thread sees this VMA yet. */
void pfstat_follow_open(struct vm_area_struct *vma)
{
	pfstat_in_flight_enter();
	if (!pfstat_shadow_hooked(vma)) {
		/* An ended session's. A new one may be hooking the mm at this moment. */
		pfstat_shadow_unhook(vma);
		if (is_watched_open(vma->vm_mm) || is_watched_open(current->mm))
			pfstat_follow_again();
	} else if (!is_watched_open(vma->vm_mm) && !follow_fork(vma->vm_mm)) {
		pfstat_shadow_unhook(vma);
	}
	pfstat_in_flight_leave();
}

struct follow_mode {
	bool future;
	bool known_mm;
	bool follow;
};

/* Are current's new mappings to be hooked? Not sleeping. */
static struct follow_mode follow_mode_of_current(void)
{
	struct watched_process *process;
	struct watched_mm *watched;
	struct follow_mode mode = { 0 };

	if (!current->mm)
		return mode;
	rcu_read_lock();
	watched = pfstat_target_find_mm(current->mm);
	process = pfstat_target_find_process(task_tgid(current));
	mode.known_mm = watched;
	mode.future = (watched && watched->future) || process;
	mode.follow = process && process->follow;
	rcu_read_unlock();
	return mode;
}

/* Returns 1 to skip the return probe: then it takes no instance. */
static int on_mmap_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return !follow_mode_of_current().future;
}

/* After an exec: the process is known, the new mm is not. */
static int follow_exec(bool follow)
{
	return pfstat_target_add_mm(current->mm, current->tgid, true, follow,
				    GFP_NOWAIT | __GFP_NOWARN);
}

static int on_mmap_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned long address = regs_return_value(regs);
	struct follow_mode mode = follow_mode_of_current();
	struct vm_area_struct *vma;
	int err = 0;

	if (IS_ERR_VALUE(address) || !mode.future || !pfstat_target_is_open())
		return 0;
	if (!mode.known_mm)
		err = follow_exec(mode.follow);
	if (err)
		goto out;
	vma = find_vma(current->mm, address);
	if (!vma || vma->vm_start > address || !pfstat_target_wants(vma))
		return 0;
	err = pfstat_shadow_hook(vma, pfstat_target_fault_around(), GFP_NOWAIT | __GFP_NOWARN);
out:
	if (err == -ENOMEM)
		missed();
	return 0;
}

static struct kretprobe mmap_probe;

/*
 * ->open made the child's mm known, unless none of the mappings was hooked yet: a command may be
 * walking the parent right now. Then look once more.
 */
static int follow_child_mm(struct task_struct *child)
{
	struct watched_mm *watched;

	if (!child->mm)
		return 0;
	watched = pfstat_target_find_mm(child->mm);
	if (watched) {
		if (!watched->pid)
			WRITE_ONCE(watched->pid, child->tgid);
		return 0;
	}
	pfstat_follow_again();
	return pfstat_target_add_mm(child->mm, child->tgid, true, true, GFP_NOWAIT | __GFP_NOWARN);
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct watched_process *process;
	int err = 0, mm_err = 0;

	if (child->tgid == parent->tgid) /* a thread */
		return;
	rcu_read_lock();
	process = pfstat_target_find_process(task_tgid(parent));
	if (process && process->follow) {
		err = pfstat_target_add_process(task_tgid(child), true, GFP_NOWAIT | __GFP_NOWARN);
		/* If one of the two is known, it leads to the other later. */
		mm_err = follow_child_mm(child);
	}
	rcu_read_unlock();
	if (err == -ENOMEM || mm_err == -ENOMEM)
		missed();
}

static void follow_tick(struct work_struct *work)
{
	int nmissed = READ_ONCE(mmap_probe.nmissed);

	if (!pfstat_target_is_open())
		return;
	if (nmissed != follow_nmissed) {
		atomic64_add(nmissed - follow_nmissed, &follow_missed);
		follow_nmissed = nmissed;
		atomic_set(&follow_hook_again, 1);
	}
	if (atomic_xchg(&follow_hook_again, 0) && !pfstat_hook_all())
		atomic_set(&follow_hook_again, 1); /* a lock was held: at the next tick */
	if (pfstat_target_reap())
		follow_idle();
	else
		tick_later();
}

static void find_fork_event(struct tracepoint *event, void *data)
{
	if (!strcmp(event->name, "sched_process_fork"))
		fork_event = event;
}

static int probe_fork(void)
{
	/* Tracepoints are not exported, but can be found by name. */
	for_each_kernel_tracepoint(find_fork_event, NULL);
	if (!fork_event)
		return -ENOENT;
	return tracepoint_probe_register(fork_event, on_fork, NULL);
}

static int probe_mmap(void)
{
	memset(&mmap_probe, 0, sizeof(mmap_probe)); /* a kprobe is not registered twice */
	mmap_probe.kp.symbol_name = "do_mmap";
	mmap_probe.entry_handler = on_mmap_entry;
	mmap_probe.handler = on_mmap_return;
	mmap_probe.maxactive = FOLLOW_MAX_ACTIVE;
	follow_nmissed = 0;
	return register_kretprobe(&mmap_probe);
}

/* Returns an errno that no other command failure has, except for lack of memory. */
static int explain_probe(const char *what, int err)
{
	if (err == -ENOMEM)
		return err;
	pr_err("cannot probe %s: error %d; use a kernel that has it and allows kprobes\n", what,
	       err);
	return -ENODEV;
}

int pfstat_follow_start(void (*idle)(void))
{
	int err;

	if (follow_started) {
		tick_later(); /* it ends when nothing is left to be watched */
		return 0;
	}
	follow_idle = idle;
	atomic64_set(&follow_missed, 0);
	err = probe_mmap();
	if (err)
		return explain_probe("do_mmap()", err);
	err = probe_fork();
	if (err) {
		err = explain_probe("the event sched_process_fork", err);
		goto unprobe_mmap;
	}
	follow_started = true;
	tick_later();
	return 0;

unprobe_mmap:
	unregister_kretprobe(&mmap_probe);
	return err;
}

void pfstat_follow_stop(void)
{
	if (!follow_started)
		return;
	tracepoint_probe_unregister(fork_event, on_fork, NULL);
	unregister_kretprobe(&mmap_probe);
	tracepoint_synchronize_unregister();
	cancel_delayed_work_sync(&follow_work); /* the probes queue it */
	follow_started = false;
}

int pfstat_follow_init(void)
{
	follow_queue = alloc_workqueue("pfstat", WQ_UNBOUND, 1);
	return follow_queue ? 0 : -ENOMEM;
}

void pfstat_follow_exit(void)
{
	/* A copy that was under way while we stopped may have queued it again. */
	cancel_delayed_work_sync(&follow_work);
	destroy_workqueue(follow_queue);
}
