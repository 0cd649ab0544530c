/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limit on open file descriptors. perf needs one descriptor for each event of each watched
 * thread and CPU, and the soft limit is 1024 on most machines.
 */
#ifndef PFSTAT_USER_FD_LIMIT_H
#define PFSTAT_USER_FD_LIMIT_H

#include <stdbool.h>

/* Raises the soft limit to the hard limit. Has no effect if this fails. */
void fd_limit_raise(void);
/* Restores the original limit, for exec'd children relying on it. */
void fd_limit_restore(void);
/*
 * True if the just opened @fd is among the last ones permitted by the limit. Callers opening an
 * unbounded number of descriptors stop here, because listing processes and writing the results need
 * some as well.
 */
bool fd_limit_is_near(int fd);

#endif
