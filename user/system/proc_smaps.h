/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's memory map as /proc/PID/smaps tells it, with where its sleeping
 * threads have their stacks (/proc/PID/task/TID/syscall), and what of it the module
 * has hooked (its file `targets`).
 */
#ifndef PFSTAT_USER_PROC_SMAPS_H
#define PFSTAT_USER_PROC_SMAPS_H

#include <sys/types.h>

#include "system/vma_kind.h"

/*
 * Fills list but for what is measured, and explains nothing. -ESRCH: there is no
 * such process; -ENODATA: it has no memory of its own (a kernel thread); -EACCES, -ENOMEM.
 */
int smaps_read(struct map_list *list, pid_t pid);

/* One line of smaps more: a mapping, or a figure of the last one. -EPROTO: neither. */
int smaps_add_line(struct map_list *list, const char *line);
/* One line of /proc/PID/task/TID/syscall: "running", or numbers, the last but one its stack. */
int smaps_add_thread(struct map_list *list, pid_t tid, const char *line);
/* One line of `targets`; what is not a mapping of this process is passed over. -ENOMEM. */
int smaps_add_target(struct map_list *list, const char *line);

#endif
