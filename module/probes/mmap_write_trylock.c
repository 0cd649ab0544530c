// SPDX-License-Identifier: GPL-2.0-only
/* Can the mmap lock be tried for writing? Yes: 6.1. No: 6.8 and later. */
#include <linux/mm.h> /* and mmap_lock.h, which cannot be compiled alone on arm64 of 7.3 */

bool probe(struct mm_struct *mm);
bool probe(struct mm_struct *mm)
{
	return mmap_write_trylock(mm);
}
