/* SPDX-License-Identifier: GPL-2.0-only */
/* Shadow operations: made from a VMA's own, hooked into it, taken out again. */
#ifndef PFSTAT_SHADOW_H
#define PFSTAT_SHADOW_H

#include <linux/list.h>
#include <linux/mm.h>

#include "fault.h"

/* What tells two shadows apart: the VMAs of one are alike in all of it, as long as they live. */
struct shadow_kind {
	const struct vm_operations_struct *original;
	u32 dev;		/* of the file's super block */
	bool shared;		/* VM_SHARED */
	bool fault_around;
};

struct shadow {
	struct vm_operations_struct ops;	/* what a hooked VMA points to */
	struct shadow_kind kind;
	struct vm_operations_struct pristine;	/* the original's members when it was copied */
	struct fault_template templates[NR_PLAIN_KINDS];
	struct list_head list;
};

/* 0, or why this VMA must not be hooked: -EOPNOTSUPP. */
int pfstat_shadow_allowed(const struct vm_area_struct *vma);
bool pfstat_shadow_hooked(const struct vm_area_struct *vma);

static inline struct shadow *pfstat_shadow_of(const struct vm_operations_struct *ops)
{
	return container_of(ops, struct shadow, ops);
}

/* What hooking the VMA takes, if it may be hooked: 0 or -ENOMEM. Its mm's mmap lock is held. */
int pfstat_shadow_prepare(const struct vm_area_struct *vma, bool fault_around, gfp_t gfp);

/*
 * The VMA must be write-locked: its mm's mmap lock, and the VMA's own lock
 * where there is one. hook: 0, -EOPNOTSUPP, -ENOMEM; already hooked is 0.
 */
int pfstat_shadow_hook(struct vm_area_struct *vma, bool fault_around, gfp_t gfp);
void pfstat_shadow_unhook(struct vm_area_struct *vma);

/* Nothing was hooked since the module was loaded. To be asked when nothing can be any more. */
bool pfstat_shadow_never_made(void);
/* From now on every shadow calls the original operations directly. */
void pfstat_shadow_neutralise(void);
/* Frees all shadows; with `leak` only forgets them (a VMA may point there). */
void pfstat_shadow_exit(bool leak);
size_t pfstat_shadow_bytes(void);

#endif
