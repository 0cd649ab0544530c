/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that is held just before its exec, so that it can be watched from there on. */
#ifndef PFSTAT_USER_CHILD_H
#define PFSTAT_USER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;  /* 0: none */
	int go;	    /* releases it when it is written to or closed */
	int failed; /* reports that it is ready, or the error of its exec */
};

#define COMMAND_NONE ((struct command){ .go = -1, .failed = -1 })

/* Forks; the child becomes the user for whom pfdrive works, and waits. 0 or a negative errno. */
int command_hold(struct command *command, char *const *argv);
/*
 * Releases it. 0, or the negative errno of its exec: then it is gone. -EPIPE, with SIGPIPE ignored:
 * it was gone before.
 */
int command_go(struct command *command);
/* A command that was never released is ended; one that runs continues. */
void command_close(struct command *command);

#endif
