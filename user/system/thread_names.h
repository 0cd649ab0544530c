/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a running process's thread names from /proc/PID/task/TID/comm. */
#ifndef PFSTAT_USER_THREAD_NAMES_H
#define PFSTAT_USER_THREAD_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

#define THREAD_NAME_SIZE 16 /* with the NUL, as in the kernel */

/* Called for each thread. A nonzero result stops the walk and is returned. */
typedef int (*thread_name_visitor)(void *context, pid_t tid, const char name[THREAD_NAME_SIZE]);

/* False: the thread has exited, or its name may not be read. */
bool thread_name_read(pid_t pid, pid_t tid, char name[THREAD_NAME_SIZE]);

/*
 * Threads and processes that exit meanwhile, or whose names may not be read, are skipped. Returns
 * 0, a visitor's result, or -EMFILE, -ENFILE or -ENOMEM.
 */
int thread_names_visit(pid_t pid, thread_name_visitor visit, void *context);

#endif
