/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that is watched: it maps a file and touches bytes of it, one step
 * after the other, and writes down how large it was after each.
 */
#ifndef PFSTAT_USER_RSS_TOUCHER_H
#define PFSTAT_USER_RSS_TOUCHER_H

#include <sys/types.h>

#include "bench/rss/rss_steps.h"
#include "workload/mapping.h"

struct rss_toucher {
	pid_t pid;		 /* 0: none */
	int go;			 /* -1: it has been let go */
	struct toucher_log *log; /* shared with it */
};

#define TOUCHER_NONE ((struct rss_toucher){ .go = -1 })

/*
 * Starts it; it holds before its first step. steps: kind and offset are read; both they
 * and mapping must not change any more. 0 or a negative errno.
 */
int rss_toucher_hold(struct rss_toucher *toucher, const struct mapping *mapping,
		     const struct rss_step *steps, unsigned int nr);
/*
 * Releases it and waits for its end. 0: every step's marks are filled; -EFAULT: the byte of *step
 * could not be read (SIGBUS); other errors are the process's own; -EINTR: a signal, and it is gone.
 */
int rss_toucher_go(struct rss_toucher *toucher, struct rss_step *steps, unsigned int nr,
		   unsigned int *step);
/* Ends it, if it is still there. */
void rss_toucher_close(struct rss_toucher *toucher);

#endif
