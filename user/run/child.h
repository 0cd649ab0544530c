/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that is held just before its exec, so that it can be watched from there on. */
#ifndef PFSTAT_USER_CHILD_H
#define PFSTAT_USER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: none */
	int go;	    /* releases it when it is written to or closed */
	int failed; /* reports that it is ready, or the error of its exec */
};

#define CHILD_NONE ((struct child){ .go = -1, .failed = -1 })

/* Forks; the child becomes the user for whom pfdrive works, and waits. 0 or a negative errno. */
int child_hold(struct child *command, char *const *argv);
/*
 * Releases it. 0, or the negative errno of its exec: then it is gone. -EPIPE, with SIGPIPE ignored:
 * it was gone before.
 */
int child_go(struct child *command);
/* A command that was never released is ended; one that runs continues. */
void child_close(struct child *command);

#endif
