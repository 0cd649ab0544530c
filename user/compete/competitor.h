/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that uses memory beside a run: when told to it stores to every page of its
 * own once, and says so; when told again it reads a page and stores to each eighth, on and
 * on, until it is killed. It dies with who started it.
 */
#ifndef PFSTAT_USER_COMPETITOR_H
#define PFSTAT_USER_COMPETITOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/pages/competition.h"
#include "system/cpus.h"

struct competitor_plan {
	uint64_t bytes;
	bool random;
	unsigned int number;	/* from 1; its seed too */
	const struct cpus *cpus;	/* where it may run */
};

struct competitor {
	pid_t pid;		/* 0: there is none */
	int fd;			/* both ways */
	int progress_fd;
	const volatile uint64_t *accesses;	/* that it has made */
};

#define COMPETITOR_NONE ((struct competitor){ .fd = -1, .progress_fd = -1 })

/* Starts it; it waits. 0 or a negative errno. */
int competitor_start(struct competitor *competitor, const struct competitor_plan *plan);
/* Once around; the second time: on and on. */
int competitor_go(const struct competitor *competitor);
/*
 * Waits until it has been around. -EINTR: told to stop; -ECHILD: it has ended, status
 * is waitpid(2)'s.
 */
int competitor_await(struct competitor *competitor, const volatile sig_atomic_t *stop,
		     int *status);
/* It does nothing from now on. -ECHILD: it has ended by itself, as above. */
int competitor_pause(struct competitor *competitor, int *status);
/* Its process's counts so far. */
void competitor_read(const struct competitor *competitor, struct competitor_figures *figures);
/* Kills it and waits for its end. */
void competitor_stop(struct competitor *competitor);

/*
 * What the process does that competitor_start() makes: plan->cpus is not used, parent is the
 * process that started it, user as whom it runs ("": who called sudo). The exit status.
 */
int competitor_live(const struct competitor_plan *plan, pid_t parent, const char *user);

#endif
