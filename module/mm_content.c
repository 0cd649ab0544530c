// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds where the content of a fault's page comes from, see mm_content.h. The page met by a write
 * is known when do_wp_page() starts. Whether an anonymous page was copied is known afterwards: if
 * not, the kernel has marked the page as this process's own. A page freed meanwhile has no marks,
 * and the page structure stays.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <pfstat/event.h>

#include "compat.h"
#include "mm_content.h"
#include "mm_thread.h"

bool pfstat_mm_content_has_shared __read_mostly;

void pfstat_mm_content_begin(struct mm_thread *thread)
{
	thread->content = PFSTAT_CONTENT_UNKNOWN;
	thread->written = NULL;
	thread->huge = NULL;
}

/* The page is still mapped, and the page table is locked. */
void pfstat_mm_content_note_write(struct mm_thread *thread, const struct vm_fault *vmf)
{
	const unsigned long pfn = pte_pfn(vmf->orig_pte);
	struct folio *folio;
	struct page *page;

	pfstat_mm_content_begin(thread);
	if (is_zero_pfn(pfn)) {
		thread->content = PFSTAT_CONTENT_ZERO;
		return;
	}
	if (pte_special(vmf->orig_pte))
		return;
	page = pfn_to_page(pfn);
	folio = page_folio(page);
	if (folio_test_ksm(folio))
		thread->content = PFSTAT_CONTENT_KSM;
	else if (folio_test_anon(folio))
		thread->written = page;
	else if (folio->mapping)
		thread->content = PFSTAT_CONTENT_FILE;
}

void pfstat_mm_content_note_shared(struct mm_thread *thread, unsigned long expected)
{
	if (thread->state == MM_STATE_SLOW && !expected)
		thread->content = PFSTAT_CONTENT_NEW;
}

void pfstat_mm_content_note_huge(struct mm_thread *thread, const struct vm_fault *vmf)
{
	if (thread->state == MM_STATE_SLOW)
		thread->huge = vmf->pmd;
}

/* /dev, whose mappings belong to drivers, also has the shared memory file system. */
static bool mm_content_is_shared(const struct vm_area_struct *vma)
{
	const struct inode *inode = vma->vm_file ? file_inode(vma->vm_file) : NULL;

	return inode && S_ISREG(inode->i_mode) && inode->i_sb->s_magic == TMPFS_MAGIC;
}

static u8 mm_content_of_file(const struct mm_thread *thread, const struct vm_area_struct *vma,
			     unsigned int flags)
{
	if (flags & FAULT_FLAG_WRITE && !(vma->vm_flags & VM_SHARED))
		return PFSTAT_CONTENT_FILE;
	if (!pfstat_mm_content_has_shared || !mm_content_is_shared(vma))
		return PFSTAT_CONTENT_UNKNOWN;
	return thread->content == PFSTAT_CONTENT_NEW ? PFSTAT_CONTENT_NEW : PFSTAT_CONTENT_PRESENT;
}

static u8 mm_content_of_copy(const struct mm_thread *thread)
{
	/* A page has the flags where a folio has them. */
	const struct folio *written = (const struct folio *)thread->written;

	if (!written)
		return thread->content;
	return compat_folio_flags(written) >> PG_anon_exclusive & 1 ? PFSTAT_CONTENT_REUSED :
								      PFSTAT_CONTENT_FORK;
}

/* A read maps the huge page of zeros, which exists. Without a free huge page, it is small ones. */
static unsigned int mm_content_huge_order(const struct mm_thread *thread, unsigned int flags)
{
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	if (flags & FAULT_FLAG_WRITE && thread->huge && pmd_trans_huge(READ_ONCE(*thread->huge)))
		return PMD_SHIFT - PAGE_SHIFT;
#endif
	return 0;
}

u8 pfstat_mm_content_of(const struct mm_thread *thread, const struct vm_area_struct *vma, u8 kind,
			unsigned int flags)
{
	switch (kind) {
	case PFSTAT_FAULT_FILE:
		return mm_content_of_file(thread, vma, flags);
	case PFSTAT_FAULT_COW:
		return mm_content_of_copy(thread);
	case PFSTAT_FAULT_ANON:
		return PFSTAT_PAGE(0, mm_content_huge_order(thread, flags));
	case PFSTAT_FAULT_OTHER:
		if (!(vma->vm_flags & VM_HUGETLB) || !vma->vm_file)
			return 0;
		return PFSTAT_PAGE(0,
				   file_inode(vma->vm_file)->i_sb->s_blocksize_bits - PAGE_SHIFT);
	default:
		return 0;
	}
}
