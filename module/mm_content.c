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
	thread->note = PFSTAT_NOTE_UNKNOWN;
	thread->written = NULL;
	thread->huge = NULL;
}

/* A page has the flags where a folio has them. */
static bool mm_content_is_exclusive(const struct page *page)
{
	return compat_folio_flags((const struct folio *)page) >> PG_anon_exclusive & 1;
}

/*
 * A mapping is soft-dirty as a whole until a process clears the bits. Then a private page gets its
 * entry's bit with the next write. In a mapping whose bits were never cleared, a page of a shared
 * file gets it with the first write through this entry.
 */
static u8 mm_content_read_only(const struct mm_thread *thread, const struct vm_area_struct *vma,
			       bool protected, bool soft_dirty)
{
	if (protected)
		return PFSTAT_NOTE_UFFD;
	if (thread->written && !mm_content_is_exclusive(thread->written))
		return PFSTAT_NOTE_FORKED;
	if (IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) && !soft_dirty &&
	    !(vma->vm_flags & VM_SHARED) == !(vma->vm_flags & VM_SOFTDIRTY))
		return PFSTAT_NOTE_CLEAN;
	if (thread->written)
		return PFSTAT_NOTE_OWN;
	return soft_dirty ? PFSTAT_NOTE_DIRTY : PFSTAT_NOTE_READ_ONLY;
}

static void mm_content_note_page(struct mm_thread *thread, unsigned long pfn)
{
	struct folio *folio;
	struct page *page;

	page = pfn_to_page(pfn);
	folio = page_folio(page);
	if (folio_test_ksm(folio))
		thread->content = PFSTAT_CONTENT_KSM;
	else if (folio_test_anon(folio))
		thread->written = page;
	else if (folio->mapping)
		thread->content = PFSTAT_CONTENT_FILE;
}

/* The page is still mapped, and the page table is locked. */
void pfstat_mm_content_note_write(struct mm_thread *thread, const struct vm_fault *vmf)
{
	const pte_t pte = vmf->orig_pte;

	pfstat_mm_content_begin(thread);
	if (is_zero_pfn(pte_pfn(pte)))
		thread->content = PFSTAT_CONTENT_ZERO;
	else if (!pte_special(pte))
		mm_content_note_page(thread, pte_pfn(pte));
	thread->note = mm_content_read_only(thread, vmf->vma, pte_val(pte) & COMPAT_ENTRY_UFFD,
					    pte_soft_dirty(pte));
}

/* The kernel calls it for anonymous memory only. The page of zeros has no owner. */
void pfstat_mm_content_note_huge_write(struct mm_thread *thread, const struct vm_fault *vmf)
{
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	const pmd_t pmd = READ_ONCE(vmf->orig_pmd);

	pfstat_mm_content_begin(thread);
	thread->huge = vmf->pmd;
	mm_content_note_page(thread, pmd_pfn(pmd));
	if (!thread->written)
		thread->content = PFSTAT_CONTENT_ZERO;
	thread->note = mm_content_read_only(thread, vmf->vma, pmd_val(pmd) & COMPAT_ENTRY_UFFD,
					    pmd_soft_dirty(pmd));
#endif
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
	if (!thread->written)
		return thread->content;
	return mm_content_is_exclusive(thread->written) ? PFSTAT_CONTENT_REUSED :
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
		return PFSTAT_PAGE(mm_content_of_copy(thread),
				   mm_content_huge_order(thread, flags));
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
