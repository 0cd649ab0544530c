/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings that may hold an anonymous page, as far as they are used: a tree of the anon_vma
 * that the page points to, in the order of their first pages. All reads are safe.
 */
#ifndef PFSTAT_BPF_ANON_VMA_H
#define PFSTAT_BPF_ANON_VMA_H

#include "common.bpf.h"
#include "page.bpf.h"
#include "rb_tree.bpf.h"

struct rb_root_cached {
	struct rb_root rb_root;
} __attribute__((preserve_access_index));

/* All mappings that may hold a page, mostly in one process. */
struct anon_vma {
	struct rb_root_cached rb_root;
} __attribute__((preserve_access_index));

/* There only with CONFIG_MEMCG. */
struct mm_struct___memcg {
	struct task_struct *owner;
} __attribute__((preserve_access_index));

struct vm_area_struct___anon {
	struct mm_struct___memcg *vm_mm;
	struct anon_vma *anon_vma;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
} __attribute__((preserve_access_index));

struct anon_vma_chain {
	struct vm_area_struct___anon *vma;
	struct rb_node rb;
	unsigned long rb_subtree_last; /* the largest last page of it and of all below */
} __attribute__((preserve_access_index));

/* NULL: the folio is not anonymous. Pages of KSM have no anon_vma. */
static __always_inline const struct anon_vma *folio_anon_vma(const struct folio *folio)
{
	unsigned long mapping = FOLIO_READ(folio, mapping);

	return (mapping & MAPPING_FLAGS) == MAPPING_ANON ? (const void *)(mapping - MAPPING_ANON) :
							   NULL;
}

static __always_inline const struct anon_vma_chain *chain_of(const struct rb_node *node)
{
	return (const void *)node - bpf_core_field_offset(struct anon_vma_chain, rb);
}

/* NULL: the process has ended, or the kernel does not know it. */
static __always_inline const struct task_struct *vma_owner(const struct vm_area_struct___anon *vma)
{
	const struct mm_struct___memcg *mm = BPF_CORE_READ(vma, vm_mm);

	return bpf_core_field_exists(mm->owner) ? BPF_CORE_READ(mm, owner) : NULL;
}

#endif
