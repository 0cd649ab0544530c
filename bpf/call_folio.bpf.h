/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The folio mapped by a file operation call: the folio's order, and whether the kernel maps all of
 * it. Nearly all folios are single pages, recognised by a few direct loads.
 */
#ifndef PFSTAT_BPF_CALL_FOLIO_H
#define PFSTAT_BPF_CALL_FOLIO_H

#include "fault_state.bpf.h"
#include "page.bpf.h"
#include "vma.bpf.h"

#define VM_UFFD_WP 0x1000UL /* the only userfaultfd use for file pages */

/* log2 of a folio's page count. */
static __always_inline __u8 order_of(__u32 pages)
{
	__u8 order = 0;

	while (pages >> 1 && order < 20) {
		pages >>= 1;
		order++;
	}
	return order;
}

/*
 * The verifier allows no arithmetic with a kernel pointer, but with a stored number: here, stored
 * for a moment in place of the frame.
 */
static __always_inline __u64 pointer_number(struct fault_state *state, const void *pointer)
{
	volatile __u64 *place = &state->record.pfn;
	__u64 number;

	*place = (__u64)pointer;
	number = *place;
	*place = PFSTAT_NO_PFN;
	return number;
}

/* In the word is the page's head, if it is a tail. */
static __always_inline const void *head_word(const struct page *page)
{
	return bpf_core_field_exists(page->compound_info) ? (const void *)page->compound_info :
							    (const void *)page->compound_head;
}

static __always_inline __u64 page_flags(const struct page *page)
{
	const struct page___v6_18 *newer = (const void *)page;

	return bpf_core_field_exists(newer->flags.f) ? newer->flags.f : page->flags;
}

/* A page that is neither head nor tail of a larger folio. Direct loads cost least. */
static __always_inline bool page_is_single(struct fault_state *state, const struct page *page)
{
	return !(page_flags(page) & PAGE_BIT(PG_head)) &&
	       !(pointer_number(state, head_word(page)) & TAIL_PAGE);
}

/* A page's folio, and the page's index within the folio. */
static __always_inline const struct folio *call_folio(struct fault_state *state,
						      const struct page *page, __u64 *pages_in)
{
	return page_folio((const struct page *)pointer_number(state, page), pages_in);
}

/* As is_mapped_whole() in module/attempt.c. */
static __always_inline bool is_mapped_whole(const struct vm_fault *vmf, __u64 before, __u64 pages)
{
	const struct folio___v6_18 *folio = NULL;
	const struct vm_area_struct *vma = vmf->vma;
	const __u64 in_vma = vmf->pgoff - vma->vm_pgoff;
	/* A page table's entries, 8 bytes each, fill a page. */
	const __u64 table_pages = 1ULL << (page_shift - 3);
	const __u64 in_table = vmf->address >> page_shift & (table_pages - 1);

	/* v6.18 also made the folio flags a structure. */
	if (!bpf_core_field_exists(folio->flags.f) || pages == 1 || vma->vm_flags & VM_UFFD_WP)
		return false;
	return before <= in_vma &&
	       in_vma - before + pages <= (vma->vm_end - vma->vm_start) >> page_shift &&
	       before <= in_table && in_table - before + pages <= table_pages &&
	       (vmf->pgoff - before + pages - 1) << page_shift <
		       (__u64)vma->vm_file->f_inode->i_size;
}

/* The call kept the lock, so the VMA still exists. The page may be the copy for a private write. */
static __always_inline void call_set_folio(struct fault_state *state, const struct vm_fault *vmf,
					   const struct page *page)
{
	__u64 pages_in;
	__u32 pages;

	if (page_is_single(state, page))
		return;
	pages = folio_pages(call_folio(state, page, &pages_in));
	state->record.order = order_of(pages);
	if (is_mapped_whole(vmf, pages_in, pages))
		state->record.facts |= PFSTAT_FACT_FOLIO;
}

static __always_inline __u8 order_of_page(struct fault_state *state, const struct page *page)
{
	__u64 pages_in;

	if (page_is_single(state, page))
		return 0;
	return order_of(folio_pages(call_folio(state, page, &pages_in)));
}

#endif
