/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a process's memory map from /proc/PID/smaps, the stacks of the sleeping threads from
 * /proc/PID/task/TID/syscall, and the ranges hooked by the module from the module's file `targets`.
 */
#ifndef PFSTAT_USER_PROC_SMAPS_H
#define PFSTAT_USER_PROC_SMAPS_H

#include <sys/types.h>

#include "system/map_list.h"

/*
 * Fills @list except `measured` and the fields set by map_list_explain(). Returns -ESRCH if the
 * process does not exist, -ENODATA if it has no memory (a kernel thread), -EACCES or -ENOMEM.
 */
int proc_smaps_read(struct map_list *list, pid_t pid);

/* Adds an smaps line: a mapping, or a field for the last mapping. -EPROTO: neither. */
int proc_smaps_add_line(struct map_list *list, const char *line);
/*
 * Adds a line of /proc/PID/task/TID/syscall: "running", or numbers with the stack pointer
 * last but one.
 */
int proc_smaps_add_thread(struct map_list *list, pid_t tid, const char *line);
/* Adds a line from `targets`. Ignores lines for other processes. Returns 0 or -ENOMEM. */
int proc_smaps_add_target(struct map_list *list, const char *line);

#endif
