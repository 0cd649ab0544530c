// SPDX-License-Identifier: GPL-2.0-only
/* Does a VMA have its own lock? No: 6.1. Yes: 6.4 and later. */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vma_start_write(vma);
}
