// SPDX-License-Identifier: GPL-2.0-only
/*
 * One shadow for each original vm_operations_struct, device, fault-around mode, and
 * whether the mapping is shared (so that a record says these, and a call need not ask
 * the VMA): a copy whose fault operations are wrappers. Members that were NULL stay
 * NULL, because the kernel draws conclusions from that, and .close is never
 * added: it would stop VMA merging.
 *
 * Shadows live until the module goes, so that whoever still holds an old
 * pointer finds valid memory; there are some for each file system in
 * use. They are not module data: one that might still be pointed to when the
 * module goes is leaked, neutral.
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

bool pfstat_shadow_hooked(const struct vm_area_struct *vma)
{
	return vma->vm_ops && vma->vm_ops->open == pfstat_follow_open;
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

int pfstat_shadow_allowed(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = vma->vm_ops;
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

static struct shadow_kind kind_of(const struct vm_area_struct *vma, bool fault_around)
{
	return (struct shadow_kind){
		.original = vma->vm_ops,
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

static struct shadow *shadow_find(const struct shadow_kind *kind)
{
	struct shadow *shadow;

	/*
	 * The contents too: a file system's module may have gone, and another
	 * stand at its address.
	 */
	list_for_each_entry_rcu(shadow, &shadows, list, lockdep_is_held(&shadows_lock))
		if (is_same_kind(&shadow->kind, kind) &&
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
	pfstat_fault_wrap(shadow);
	if (!kind->fault_around)
		shadow->ops.map_pages = NULL;
	return shadow;
}

static struct shadow *shadow_get(const struct shadow_kind *kind, gfp_t gfp)
{
	struct shadow *shadow, *made;

	rcu_read_lock();
	shadow = shadow_find(kind);
	rcu_read_unlock();
	if (shadow)
		return shadow;

	made = shadow_make(kind, gfp);
	if (!made)
		return NULL;
	spin_lock(&shadows_lock);
	shadow = shadow_find(kind);
	if (!shadow)
		list_add_tail_rcu(&made->list, &shadows);
	spin_unlock(&shadows_lock);
	if (shadow)
		kfree(made);
	return shadow ?: made;
}

int pfstat_shadow_prepare(const struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	struct shadow_kind kind;

	if (pfstat_shadow_hooked(vma) || pfstat_shadow_allowed(vma))
		return 0;
	kind = kind_of(vma, fault_around);
	return shadow_get(&kind, gfp) ? 0 : -ENOMEM;
}

int pfstat_shadow_hook(struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	struct shadow_kind kind;
	struct shadow *shadow;
	int err;

	if (pfstat_shadow_hooked(vma))
		return 0;
	err = pfstat_shadow_allowed(vma);
	if (err)
		return err;
	kind = kind_of(vma, fault_around);
	shadow = shadow_get(&kind, gfp);
	if (!shadow)
		return -ENOMEM;
	WRITE_ONCE(vma->vm_ops, &shadow->ops);
	return 0;
}

void pfstat_shadow_unhook(struct vm_area_struct *vma)
{
	if (pfstat_shadow_hooked(vma))
		WRITE_ONCE(vma->vm_ops, pfstat_shadow_of(vma->vm_ops)->kind.original);
}

void pfstat_shadow_neutralise(void)
{
	struct shadow *shadow;

	spin_lock(&shadows_lock);
	list_for_each_entry(shadow, &shadows, list) {
		pfstat_fault_unwrap(&shadow->ops, &shadow->pristine);
		WRITE_ONCE(shadow->ops.open, shadow->pristine.open);
	}
	spin_unlock(&shadows_lock);
}

void pfstat_shadow_exit(bool leak)
{
	struct shadow *shadow, *next;

	list_for_each_entry_safe(shadow, next, &shadows, list) {
		list_del(&shadow->list);
		if (!leak)
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
