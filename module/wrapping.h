/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations whose fault members are wrappers, and everything a wrapper needs to know about them. A
 * shadow embeds one and hooks the operations into VMAs (shadow.c). A wrapper finds it by
 * vma->vm_ops. The wrappers only read it.
 */
#ifndef PFSTAT_WRAPPING_H
#define PFSTAT_WRAPPING_H

#include <linux/container_of.h>
#include <linux/mm.h>

#include "tally.h"

/* The record members, from dev on, that all fast calls of one kind have in common. */
struct fault_template {
	u64 words[2];
};

struct fault_wrapping {
	struct vm_operations_struct ops;      /* a hooked VMA points here */
	struct vm_operations_struct pristine; /* the original's members when it was copied */
	struct fault_template templates[NR_FAST_KINDS];
	u32 dev;     /* the file's super block */
	bool shared; /* VM_SHARED */
};

static inline const struct fault_wrapping *
pfstat_wrapping_of(const struct vm_operations_struct *ops)
{
	return container_of(ops, const struct fault_wrapping, ops);
}

#endif
