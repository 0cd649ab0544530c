// SPDX-License-Identifier: GPL-2.0-only
/*
 * One shadow for each original vm_operations_struct, device, fault-around mode, and
 * shared or private mapping (so that a record has these, and a call need not look them up
 * in the VMA): a copy whose fault operations are wrappers. Members that were NULL stay
 * NULL, because the kernel draws conclusions from that, and .close is never
 * added: it would stop VMA merging.
 *
 * Shadows live until the module is unloaded, so that an old pointer leads to valid
 * memory; there are some for each file system in use. They are not module data: one that
 * might still be pointed to at the unload is leaked, disarmed.
 *
 *	ARMED --session ends--> DISARMED --session begins--> FREE --same kind needed--> ARMED
 *
 * A disarmed shadow has the original operations in place of the wrappers. It becomes free
 * only if no living VMA points to it: a new session must not time the targets of an old one.
 */
#include <linux/dax.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "fault.h"
#include "follow.h"
#include "shadow.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

static LIST_HEAD(shadows);
static DEFINE_SPINLOCK(shadows_lock);	/* against two additions; readers use RCU */
static bool shadows_open;		/* a session records; under shadows_lock */

bool pfstat_shadow_is_ours(const struct vm_operations_struct *ops)
{
	return ops && ops->open == pfstat_follow_open;
}

bool pfstat_shadow_is_armed(const struct vm_operations_struct *ops)
{
	return READ_ONCE(pfstat_shadow_of(ops)->state) == SHADOW_ARMED;
}

bool pfstat_shadow_hooked(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	return pfstat_shadow_is_ours(ops) && pfstat_shadow_is_armed(ops);
}

/* The operations that the file system gave the VMA. */
static const struct vm_operations_struct *original_of(const struct vm_operations_struct *ops)
{
	return pfstat_shadow_is_ours(ops) ? pfstat_shadow_of(ops)->kind.original : ops;
}

/* File systems whose VMAs are known by the identity of their operations. */
static bool filesystem_allowed(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:	/* also memfd and SysV shared memory */
	case HUGETLBFS_MAGIC:
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case SECRETMEM_MAGIC:
	case CODA_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case PROC_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/* ops: the original operations of the VMA. */
static int check(const struct vm_area_struct *vma, const struct vm_operations_struct *ops)
{
	const struct inode *inode;

	if (!vma->vm_file || !ops || !ops->fault)
		return -EOPNOTSUPP;
	if (vma->vm_flags & (VM_HUGETLB | VM_PFNMAP | VM_IO))
		return -EOPNOTSUPP;
	inode = file_inode(vma->vm_file);
	if (!S_ISREG(inode->i_mode) || !filesystem_allowed(inode->i_sb))
		return -EOPNOTSUPP;
	/* FUSE's close only writes back; others may rely on what open counted. */
	if (ops->open || (ops->close && inode->i_sb->s_magic != FUSE_SUPER_MAGIC))
		return -EOPNOTSUPP;
	return 0;
}

static struct shadow_kind kind_of(const struct vm_area_struct *vma,
				  const struct vm_operations_struct *original, bool fault_around)
{
	return (struct shadow_kind){
		.original = original,
		.dev = file_inode(vma->vm_file)->i_sb->s_dev,
		.shared = vma->vm_flags & VM_SHARED,
		.fault_around = fault_around,
	};
}

static bool is_same_kind(const struct shadow_kind *a, const struct shadow_kind *b)
{
	return a->original == b->original && a->dev == b->dev && a->shared == b->shared &&
	       a->fault_around == b->fault_around;
}

static struct shadow *shadow_find(const struct shadow_kind *kind, enum shadow_state state)
{
	struct shadow *shadow;

	/*
	 * The contents too: a file system's module may have gone, and another
	 * stand at its address.
	 */
	list_for_each_entry_rcu(shadow, &shadows, list, lockdep_is_held(&shadows_lock))
		if (READ_ONCE(shadow->state) == state && is_same_kind(&shadow->kind, kind) &&
		    !memcmp(&shadow->pristine, kind->original, sizeof(*kind->original)))
			return shadow;
	return NULL;
}

static struct shadow *shadow_make(const struct shadow_kind *kind, gfp_t gfp)
{
	struct shadow *shadow = kmalloc(sizeof(*shadow), gfp);

	if (!shadow)
		return NULL;
	shadow->kind = *kind;
	shadow->pristine = *kind->original;
	shadow->ops = *kind->original;
	shadow->ops.open = pfstat_follow_open;
	if (!kind->fault_around)
		shadow->ops.map_pages = NULL;
	pfstat_fault_wrap(shadow);
	shadow->state = SHADOW_ARMED;
	return shadow;
}

/* Under shadows_lock. An armed shadow of this kind, if there is one or a free one. */
static struct shadow *shadow_reuse(const struct shadow_kind *kind)
{
	struct shadow *shadow = shadow_find(kind, SHADOW_ARMED);

	if (shadow)
		return shadow;
	shadow = shadow_find(kind, SHADOW_FREE);
	if (!shadow)
		return NULL;
	pfstat_fault_wrap(shadow);
	/* Pairs with the load in shadow_find(), which the address depends on. */
	smp_store_release(&shadow->state, SHADOW_ARMED);
	return shadow;
}

/* An armed shadow of this kind: one that exists, or `made`, which is taken then. */
static struct shadow *shadow_enter(const struct shadow_kind *kind, struct shadow *made)
{
	struct shadow *shadow = NULL;

	spin_lock(&shadows_lock);
	if (shadows_open)
		shadow = shadow_reuse(kind);
	if (shadows_open && !shadow && made) {
		list_add_tail_rcu(&made->list, &shadows);
		shadow = made;
	}
	spin_unlock(&shadows_lock);
	return shadow;
}

/* NULL: there is no memory, or the session has just ended. */
static struct shadow *shadow_get(const struct shadow_kind *kind, gfp_t gfp)
{
	struct shadow *shadow, *made;

	rcu_read_lock();
	shadow = shadow_find(kind, SHADOW_ARMED);
	rcu_read_unlock();
	if (!shadow)
		shadow = shadow_enter(kind, NULL);
	if (shadow)
		return shadow;

	made = shadow_make(kind, gfp);
	if (!made)
		return NULL;
	shadow = shadow_enter(kind, made);
	if (shadow != made)
		kfree(made);
	return shadow;
}

int pfstat_shadow_prepare(const struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	const struct vm_operations_struct *original = original_of(vma->vm_ops);
	struct shadow_kind kind;

	if (pfstat_shadow_hooked(vma) || check(vma, original))
		return 0;
	kind = kind_of(vma, original, fault_around);
	return shadow_get(&kind, gfp) ? 0 : -ENOMEM;
}

int pfstat_shadow_hook(struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);
	struct shadow_kind kind;
	struct shadow *shadow;
	int err;

	if (pfstat_shadow_hooked(vma))
		return 0;
	err = check(vma, original_of(ops));
	if (err)
		return err;
	kind = kind_of(vma, original_of(ops), fault_around);
	shadow = shadow_get(&kind, gfp);
	if (!shadow)
		return -ENOMEM;
	/* An older session's shadow may be taken out at the same time: this one stays. */
	WRITE_ONCE(vma->vm_ops, &shadow->ops);
	return 0;
}

void pfstat_shadow_unhook(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	if (pfstat_shadow_is_ours(ops))
		WRITE_ONCE(vma->vm_ops, original_of(ops));
}

void pfstat_shadow_unhook_if(struct vm_area_struct *vma, const struct vm_operations_struct *ops)
{
	cmpxchg(&vma->vm_ops, ops, original_of(ops));
}

void pfstat_shadow_open(bool reuse)
{
	struct shadow *shadow;

	spin_lock(&shadows_lock);
	list_for_each_entry(shadow, &shadows, list)
		if (reuse && shadow->state == SHADOW_DISARMED)
			WRITE_ONCE(shadow->state, SHADOW_FREE);
	shadows_open = true;
	spin_unlock(&shadows_lock);
}

static void disarm(struct shadow *shadow)
{
	struct vm_operations_struct original = shadow->pristine;

	/* Only where a VMA's fault is excluded may it become NULL again: it stays so. */
	if (!shadow->kind.fault_around)
		original.map_pages = NULL;
	pfstat_fault_unwrap(&shadow->ops, &original);
	WRITE_ONCE(shadow->state, SHADOW_DISARMED);
}

void pfstat_shadow_shut(void)
{
	struct shadow *shadow;

	spin_lock(&shadows_lock);
	shadows_open = false;
	list_for_each_entry(shadow, &shadows, list)
		if (shadow->state == SHADOW_ARMED)
			disarm(shadow);
	spin_unlock(&shadows_lock);
}

void pfstat_shadow_exit(bool leak)
{
	struct shadow *shadow, *next;

	list_for_each_entry_safe(shadow, next, &shadows, list) {
		list_del(&shadow->list);
		/* Only an exiting process can still look at it, and it copies no VMA. */
		if (leak)
			WRITE_ONCE(shadow->ops.open, shadow->pristine.open);
		else
			kfree(shadow);
	}
}

bool pfstat_shadow_never_made(void)
{
	return list_empty(&shadows);
}

size_t pfstat_shadow_bytes(void)
{
	struct shadow *shadow;
	size_t bytes = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(shadow, &shadows, list)
		bytes += sizeof(*shadow);
	rcu_read_unlock();
	return bytes;
}
