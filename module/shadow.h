/* SPDX-License-Identifier: GPL-2.0-only */
/* Shadow operations: made from a VMA's own, hooked into it, taken out again. */
#ifndef PFSTAT_SHADOW_H
#define PFSTAT_SHADOW_H

#include <linux/list.h>
#include <linux/mm.h>

#include "wrapping.h"

/* The key of a shadow: VMAs with the same shadow have these in common as long as they live. */
struct shadow_kind {
	const struct vm_operations_struct *original;
	u32 dev;     /* the file's super block */
	bool shared; /* VM_SHARED */
	bool fault_around;
};

enum shadow_state {
	SHADOW_ARMED,	 /* calls are timed */
	SHADOW_DISARMED, /* from an ended session, and a VMA may point to it */
	SHADOW_FREE,	 /* no living VMA points to it */
};

struct shadow {
	struct fault_wrapping wrapping;
	struct shadow_kind kind;
	enum shadow_state state;
};

/* vma_open: called when a hooked VMA was copied. Comes before all others. */
void pfstat_shadow_init(void (*vma_open)(struct vm_area_struct *vma));

/* Are the operations a shadow's, armed or not? */
bool pfstat_shadow_is_ours(const struct vm_operations_struct *ops);
bool pfstat_shadow_is_armed(const struct vm_operations_struct *ops); /* if they are ours */
/* Does the VMA point to an armed shadow? */
bool pfstat_shadow_hooked(const struct vm_area_struct *vma);

static inline const struct shadow *pfstat_shadow_of(const struct vm_operations_struct *ops)
{
	return container_of(ops, const struct shadow, wrapping.ops);
}

/*
 * Allocates the memory needed to hook the VMA, if hooking is allowed: 0 or -ENOMEM. The mm's mmap
 * lock is held.
 */
int pfstat_shadow_prepare(const struct vm_area_struct *vma, bool fault_around, gfp_t gfp);

/*
 * The mmap lock of the VMA's mm is held, for reading at least. 0 (also if already hooked),
 * -EOPNOTSUPP (it must not be hooked), -ENOMEM.
 */
int pfstat_shadow_hook(struct vm_area_struct *vma, bool fault_around, gfp_t gfp);
/* Only the caller sees the VMA. */
void pfstat_shadow_unhook(struct vm_area_struct *vma);
/* If it still has these operations, which are a shadow's. The mmap lock is held. */
void pfstat_shadow_unhook_if(struct vm_area_struct *vma, const struct vm_operations_struct *ops);

/* A session begins: 0 or -ENOMEM. reuse: no living VMA points to a disarmed shadow. */
int pfstat_shadow_open(bool reuse);
/* It ends: every shadow leads to the original operations, and none is armed any more. */
void pfstat_shadow_shut(void);

/* Nothing was hooked since the module was loaded. */
bool pfstat_shadow_never_made(void);
/* Frees all shadows, or with `leak` only forgets them (a VMA may point there). */
void pfstat_shadow_exit(bool leak);
size_t pfstat_shadow_bytes(void);

#endif
