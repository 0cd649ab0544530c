/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Performs an action once for each thread in a running process. The threads that a visited thread
 * creates later must inherit the action.
 */
#ifndef PFSTAT_USER_PROC_THREADS_H
#define PFSTAT_USER_PROC_THREADS_H

#include <sys/types.h>

struct tids_action {
	/* Returns 0, -ESRCH if the thread is gone, or another negative errno. */
	int (*begin)(void *context, pid_t tid);
	/* Undoes every begin() in this proc_threads_each() call. */
	void (*undo)(void *context);
};

/*
 * A thread that appears meanwhile may or may not have been created by an already visited thread.
 * Then everything is undone and started again. Returns -EAGAIN if this happened at every attempt
 * (the last attempt is not undone), -ESRCH if the process does not exist, or the error from
 * begin().
 */
int proc_threads_each(pid_t pid, const struct tids_action *action, void *context);

#endif
