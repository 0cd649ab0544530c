// SPDX-License-Identifier: GPL-2.0-only
/* Does a writer of the mmap lock open a sequence? No: 6.1 and 6.8. Yes: 6.12 and later. */
#include <linux/mm.h> /* and mmap_lock.h, which cannot be compiled alone on arm64 of 7.3 */

void probe(struct mm_struct *mm);
void probe(struct mm_struct *mm)
{
	mm_lock_seqcount_begin(mm);
}
