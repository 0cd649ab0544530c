// SPDX-License-Identifier: GPL-2.0-only
/* Is the lock of a VMA a count of its readers? No: 6.1, 6.12. Yes: 6.15 and later. */
#include <linux/mm.h>

unsigned int probe(const struct vm_area_struct *vma);
unsigned int probe(const struct vm_area_struct *vma)
{
	return refcount_read(&vma->vm_refcnt) + vma->vm_mm->mm_lock_seq.sequence;
}
