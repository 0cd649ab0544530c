/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The watched process: it maps a file and touches bytes in it, one step after the other, and writes
 * down the process size after each step.
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
 * Starts the process, which holds before the first step. steps: kind and offset are read. Neither
 * steps nor mapping may change afterwards. 0 or a negative errno.
 */
int rss_toucher_hold(struct rss_toucher *toucher, const struct mapping *mapping,
		     const struct rss_step *steps, unsigned int nr);
/*
 * Releases the process and waits for its end. 0: all marks in the steps are filled. -EFAULT: the
 * byte of *step could not be read (SIGBUS). -EINTR: a signal, and the process is gone. Other errors
 * come from the process.
 */
int rss_toucher_go(struct rss_toucher *toucher, struct rss_step *steps, unsigned int nr,
		   unsigned int *step);
/* Ends it, if it is still there. */
void rss_toucher_close(struct rss_toucher *toucher);

#endif
