/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the content of a fault's page comes from (enum pfstat_content), and a huge page's order.
 * The notes are taken by functions that the kernel calls within the fault. The result is known when
 * handle_mm_fault() returns.
 */
#ifndef PFSTAT_MM_CONTENT_H
#define PFSTAT_MM_CONTENT_H

#include <linux/mm.h>

struct mm_thread;

/* Called at the start of a fault that is not on the fast path. */
void pfstat_mm_content_begin(struct mm_thread *thread);
/* do_wp_page() was called for the thread, or do_huge_pmd_wp_page(). */
void pfstat_mm_content_note_write(struct mm_thread *thread, const struct vm_fault *vmf);
void pfstat_mm_content_note_huge_write(struct mm_thread *thread, const struct vm_fault *vmf);
/* shmem_add_to_page_cache() was called, with the entry that the page is expected to replace. */
void pfstat_mm_content_note_shared(struct mm_thread *thread, unsigned long expected);
/* do_huge_pmd_anonymous_page() was called. */
void pfstat_mm_content_note_huge(struct mm_thread *thread, const struct vm_fault *vmf);

/* Pages that are added to shared memory are noted. Only changes while no fault comes here. */
extern bool pfstat_mm_content_has_shared;

/*
 * PFSTAT_PAGE() for a fault of this kind solved without RETRY and COMPLETED, so the VMA still
 * exists.
 */
u8 pfstat_mm_content_of(const struct mm_thread *thread, const struct vm_area_struct *vma, u8 kind,
			unsigned int flags);

#endif
