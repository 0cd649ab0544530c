/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects whether the running kernel's VMAs have their own locks (since Linux 6.4). */
#ifndef PFSTAT_USER_VMA_LOCK_H
#define PFSTAT_USER_VMA_LOCK_H

/* Returns 1 or 0, or a negative errno if the kernel's BTF cannot be read. */
int vma_lock_exists(void);

#endif
