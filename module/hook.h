/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks shadow operations into the VMAs of watched address spaces, and unhooks them. */
#ifndef PFSTAT_HOOK_H
#define PFSTAT_HOOK_H

#include "target.h"

/* Hooks what may be hooked in mm, only this file's mappings if file is given. */
struct pfstat_hook_result {
	unsigned int hooked;
	unsigned int refused; /* mappings (for the same file) not to be hooked */
};

/*
 * prepare allocates everything needed to hook the present mappings, so hooking does not fail
 * half-way. Both: -ENOMEM, -EINTR (killed), -ETIMEDOUT (a lock of mm was held all the time).
 */
int pfstat_hook_prepare(struct mm_struct *mm, const struct pfstat_file *file);
int pfstat_hook_mm(struct mm_struct *mm, const struct pfstat_file *file,
		   struct pfstat_hook_result *result);

/* Hooks missed VMAs, also of processes outside the table. Returns false if some are left. */
bool pfstat_hook_all(void);
/* Unhooks the retired address spaces whose lock is free. True: no living one is left. */
bool pfstat_hook_undo(void);
/* At the end: true when no address space can still hold a shadow pointer. */
bool pfstat_hook_all_gone(void);

#endif
