/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the running kernel's VMAs have locks of their own (since Linux 6.4). */
#ifndef PFSTAT_USER_VMA_LOCK_H
#define PFSTAT_USER_VMA_LOCK_H

/* 1 or 0; -errno: its types cannot be read. */
int vma_lock_exists(void);

#endif
