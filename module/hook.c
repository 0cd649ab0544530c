// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the VMAs of the watched address spaces (target.c): hooks shadow operations into them, and
 * unhooks ended sessions.
 *
 * A thread may sleep for ever in ->fault() or ->page_mkwrite() (frozen or hung file system) and
 * hold the mmap lock or a VMA lock for reading. So nothing here sleeps for these locks: a queued
 * writer would stop every later reader, ps(1) included. Locks are tried, for a limited time. Under
 * the mmap lock held for reading, a VMA may change between operations differing only in the
 * wrappers: each member is NULL in both or in neither, so a fault loading the pointer twice can mix
 * them. Only ->open changes between NULL and not NULL, and is called under the mmap lock held for
 * writing.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>

#include "hook.h"
#include "shadow.h"
#include "target.h"

/* How long a command tries to lock an address space, and how long a work item does. */
#define HOOK_COMMAND_MS 5000
#define HOOK_WORK_MS	10
#define HOOK_SPIN_NS	50000

/* The mappings chosen by hook_mm(): with file, only this file's mappings. */
static bool hook_is_chosen(const struct vm_area_struct *vma, const struct pfstat_file *file)
{
	return pfstat_target_wants(vma) && (!file || pfstat_target_maps_file(vma, file));
}

static bool hook_lock_once(struct mm_struct *mm)
{
	const u64 end = ktime_get_mono_fast_ns() + HOOK_SPIN_NS;

	/* A writer holds it for a short time, unless it waits for a fault that hangs. */
	do {
		if (mmap_read_trylock(mm))
			return true;
		cpu_relax();
	} while (!need_resched() && ktime_get_mono_fast_ns() < end);
	return false;
}

/* Sleeps a little. -EINTR: current was killed. -ETIMEDOUT: `end` has passed. */
static int hook_wait_for_lock(unsigned long end)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	if (time_after(jiffies, end))
		return -ETIMEDOUT;
	usleep_range(200, 500);
	return 0;
}

/* 0, -EINTR or -ETIMEDOUT. Never queues. */
static int hook_lock_mm(struct mm_struct *mm, unsigned long end)
{
	int err = 0;

	while (!err && !hook_lock_once(mm))
		err = hook_wait_for_lock(end);
	return err;
}

static unsigned long hook_end_after(unsigned int ms)
{
	return jiffies + msecs_to_jiffies(ms);
}

int pfstat_hook_prepare(struct mm_struct *mm, const struct pfstat_file *file)
{
	struct vm_area_struct *vma;
	int err;

	err = hook_lock_mm(mm, hook_end_after(HOOK_COMMAND_MS));
	if (err)
		return err;
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma)) /* where a failed fork stopped copying */
			break;
		if (hook_is_chosen(vma, file))
			err = pfstat_shadow_prepare(vma, pfstat_target_fault_around(), GFP_KERNEL);
		if (err)
			break;
	}
	mmap_read_unlock(mm);
	return err;
}

/* Hooks all VMAs it may hook. The mmap lock is held. */
static int hook_vmas(struct mm_struct *mm, const struct pfstat_file *file,
		     struct pfstat_hook_result *result)
{
	struct vm_area_struct *vma;
	int err;

	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma) || pfstat_target_is_exiting(mm))
			break;
		if (!hook_is_chosen(vma, file))
			continue;
		err = pfstat_shadow_hook(vma, pfstat_target_fault_around(), GFP_KERNEL);
		if (err == -ENOMEM)
			return err;
		if (err)
			result->refused++;
		else
			result->hooked++;
	}
	return 0;
}

static int hook_mm(struct mm_struct *mm, const struct pfstat_file *file,
		   struct pfstat_hook_result *result, unsigned int patience_ms)
{
	int err = hook_lock_mm(mm, hook_end_after(patience_ms));

	*result = (struct pfstat_hook_result){ 0 };
	if (err)
		return err;
	err = hook_vmas(mm, file, result);
	mmap_read_unlock(mm);
	return err;
}

int pfstat_hook_mm(struct mm_struct *mm, const struct pfstat_file *file,
		   struct pfstat_hook_result *result)
{
	return hook_mm(mm, file, result, HOOK_COMMAND_MS);
}

/* Takes an ended session's hooks out of mm. False: the lock is held, try later. */
static bool hook_take_out(struct mm_struct *mm)
{
	struct vm_area_struct *vma;

	if (hook_lock_mm(mm, hook_end_after(HOOK_WORK_MS)))
		return false;
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

		if (xa_is_zero(vma))
			break;
		if (!pfstat_shadow_is_ours(ops))
			continue;
		/*
		 * A new session may hook it meanwhile: it enters the address space in
		 * the table first, and then the operations in the VMA: shadow-take-out.litmus.
		 */
		smp_rmb();
		if (!pfstat_shadow_is_armed(ops) || !pfstat_target_is_watched(mm))
			pfstat_shadow_unhook_if(vma, ops);
	}
	mmap_read_unlock(mm);
	return true;
}

static void hook_missed(struct watched_mm *watched, void *data)
{
	struct pfstat_hook_result result;
	int err = 0;

	if (watched->future)
		err = hook_mm(watched->mm, NULL, &result, HOOK_WORK_MS);
	if (err)
		*(bool *)data = false;
}

bool pfstat_hook_all(void)
{
	bool all = true;

	pfstat_target_find_missed();
	pfstat_target_visit_mms(hook_missed, &all);
	return all;
}

bool pfstat_hook_undo(void)
{
	return pfstat_target_release(hook_take_out);
}

bool pfstat_hook_all_gone(void)
{
	pfstat_hook_undo();
	return !pfstat_target_retired();
}
