/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process using memory during a run. On the first command it stores to each page once and reports
 * completion. On the second command it reads pages, and stores to every eighth, until killed. It
 * ends with the process that started it.
 */
#ifndef PFSTAT_USER_COMPETITOR_H
#define PFSTAT_USER_COMPETITOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/pressure/competition.h"
#include "system/cpus.h"

struct competitor_plan {
	uint64_t bytes;
	bool random;
	unsigned int number;	 /* from 1, also the seed */
	const struct cpus *cpus; /* where it may run */
};

struct competitor {
	pid_t pid; /* 0: there is none */
	int fd;	   /* both ways */
	int progress_fd;
	const volatile uint64_t *accesses; /* made so far */
};

#define COMPETITOR_NONE ((struct competitor){ .fd = -1, .progress_fd = -1 })

/* Starts the process, which then waits. 0 or a negative errno. */
int competitor_start(struct competitor *competitor, const struct competitor_plan *plan);
/* First call: touch all pages once. Second call: go on without end. */
int competitor_go(const struct competitor *competitor);
/*
 * Waits until the process has touched all pages once. -EINTR: a signal. -ECHILD: the process has
 * ended, and status is waitpid(2)'s.
 */
int competitor_await(struct competitor *competitor, const volatile sig_atomic_t *stop, int *status);
/* Stops the process (SIGSTOP). -ECHILD: it has already exited, as above. */
int competitor_pause(struct competitor *competitor, int *status);
/* The process's counts so far. */
void competitor_read(const struct competitor *competitor, struct competitor_figures *figures);
/* Kills the process and waits for it. */
void competitor_stop(struct competitor *competitor);

/*
 * The program run by the process from competitor_start(). plan->cpus is not used. parent is the
 * process calling competitor_start(). The program runs as user ("": the user who called sudo).
 * Returns the exit status.
 */
int competitor_live(const struct competitor_plan *plan, pid_t parent, const char *user);

#endif
