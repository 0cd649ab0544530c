/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects whether the VMAs of the running kernel have locks of their own (since Linux 6.4). */
#ifndef PFSTAT_USER_VMA_LOCK_H
#define PFSTAT_USER_VMA_LOCK_H

/* Returns 1 or 0, or a negative errno if the kernel's BTF cannot be read. */
int vma_lock_exists(void);

#endif
