/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the names of the threads of a running process from /proc/PID/task/TID/comm. */
#ifndef PFSTAT_USER_THREAD_NAMES_H
#define PFSTAT_USER_THREAD_NAMES_H

#include <sys/types.h>

#define THREAD_NAME_SIZE 16 /* with the NUL, as in the kernel */

/* Called for each thread; a nonzero result stops the walk and is returned. */
typedef int (*thread_name_visitor)(void *context, pid_t tid, const char name[THREAD_NAME_SIZE]);

/*
 * Threads and processes that exit meanwhile, or whose names may not be read, are skipped. 0, the
 * result of a visitor, or -EMFILE, -ENFILE or -ENOMEM.
 */
int thread_names_visit(pid_t pid, thread_name_visitor visit, void *context);

#endif
