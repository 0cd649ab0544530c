/* SPDX-License-Identifier: GPL-2.0-only */
/* A command held just before exec, to watch it from there on. */
#ifndef PFSTAT_USER_CHILD_H
#define PFSTAT_USER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: none */
	int go;	    /* releases it when it is written to or closed */
	int failed; /* reports readiness, or the exec error */
};

#define CHILD_NONE ((struct child){ .go = -1, .failed = -1 })

/*
 * Forks. The child becomes the user for whom pfdrive works, and waits. Returns 0 or a negative
 * errno.
 */
int child_hold(struct child *command, char *const *argv);
/*
 * Releases the command. Returns 0, or exec's negative errno if the command is gone. -EPIPE, with
 * SIGPIPE ignored: it was gone before.
 */
int child_go(struct child *command);
/* A command never released is ended. A running one continues. */
void child_close(struct child *command);

#endif
