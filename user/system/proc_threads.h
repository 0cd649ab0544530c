/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Something to be done once for each thread of a running process, when what is
 * done to a thread holds for those that it creates from then on, too.
 */
#ifndef PFSTAT_USER_PROC_THREADS_H
#define PFSTAT_USER_PROC_THREADS_H

#include <sys/types.h>

struct tids_action {
	/* 0, -ESRCH: the thread is gone; or another negative errno. */
	int (*begin)(void *context, pid_t tid);
	/* Undoes every begin() of this tids_each(). */
	void (*undo)(void *context);
};

/*
 * A thread that came up meanwhile may or may not have been created by one that
 * had its turn: then all is undone and begun again. -EAGAIN: so it was every time, and
 * what was begun last stays; -ESRCH: there is no such process; or begin's error.
 */
int tids_each(pid_t pid, const struct tids_action *action, void *context);

#endif
