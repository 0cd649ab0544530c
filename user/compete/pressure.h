/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory pressure for one run: a cgroup and competing processes, made anew for each run, and their
 * counters. Call in this order: enter, begin, go, end, and close in any case.
 */
#ifndef PFSTAT_USER_PRESSURE_H
#define PFSTAT_USER_PRESSURE_H

#include "analyze/pages/competition.h"
#include "compete/compete_options.h"
#include "compete/competitor.h"
#include "system/memory_cgroup.h"

struct pressure {
	const struct compete_options *options;
	bool alone;			/* under the same limit, without competitors */
	const struct cpus *cpus;	/* where the competitors may run */
	uint64_t bytes;			/* that the run itself may need of anonymous memory */
	uint64_t file_bytes;		/* of the file that it maps; 0: none */
	struct competition competition; /* figures of this run, always in `with` */
	struct memory_group group;
	struct competitor competitors[COMPETITORS_MAX];
	pid_t pids[COMPETITORS_MAX]; /* also when they have ended */
	uint64_t before[NR_COMPETITION_FIGURES];
};

void pressure_init(struct pressure *pressure, const struct compete_options *options, bool alone);
/* These functions return STATUS_OK, or the exit status after a message. */
int pressure_enter(struct pressure *pressure);
/* On return each competitor has touched its pages once and waits. */
int pressure_begin(struct pressure *pressure);
void pressure_go(const struct pressure *pressure);
/* They are paused, so that nothing moves while it is counted. */
int pressure_end(struct pressure *pressure);
/* Nothing is left of it. */
int pressure_close(struct pressure *pressure);

#endif
