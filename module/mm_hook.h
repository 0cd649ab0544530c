/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the module the function that ftrace calls at handle_mm_fault(), and takes it back. */
#ifndef PFSTAT_MM_HOOK_H
#define PFSTAT_MM_HOOK_H

#include <linux/types.h>

/*
 * Returns 0. -EBUSY: another tool holds the function. -EOPNOTSUPP: this kernel has no direct calls,
 * or the function starts otherwise than expected. -ENOMEM. -EINTR. -EIO: the kernel kept calling
 * the module after an earlier session. Only under the session's mutex, like drop() and drop_now().
 */
int pfstat_mm_hook_take(void);
/*
 * No process is watched any more, and soon no fault comes here: that takes two or three grace
 * periods, which pass in a work item.
 */
void pfstat_mm_hook_drop(void);
/* The same, but waits for it. -EINTR: killed. -EIO: the kernel keeps calling the module. */
int pfstat_mm_hook_drop_now(void);
bool pfstat_mm_hook_is_taken(void);   /* and not dropped since */
bool pfstat_mm_hook_is_held(void);    /* faults come here, or may: also after it was dropped */
bool pfstat_mm_hook_never_held(void); /* since the module was loaded */
bool pfstat_mm_hook_has_swap(void);
bool pfstat_mm_hook_has_write(void);
/*
 * Once no command comes any more. It does not return while the
 * kernel keeps calling the module. Then calls are drained, and pfstat_mm_counts_exit() may come.
 */
void pfstat_mm_hook_exit(void);

#endif
