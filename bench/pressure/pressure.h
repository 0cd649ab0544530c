/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory pressure for one run: a cgroup and competing processes, made anew for each run, and their
 * counters.
 */
#ifndef PFSTAT_USER_PRESSURE_H
#define PFSTAT_USER_PRESSURE_H

#include "bench/pressure/compete_options.h"
#include "bench/pressure/competition.h"
#include "bench/pressure/competitor.h"
#include "drive/run.h"
#include "system/cgroups.h"

struct pressure {
	struct run_load load; /* the load's functions. First, so the address is the same */
	const struct compete_options *options;
	bool alone;			/* under the same limit, without competitors */
	const struct cpus *cpus;	/* where the competitors may run */
	uint64_t bytes;			/* anonymous memory the run itself may need */
	uint64_t file_bytes;		/* mapped file's size, or 0 if none */
	struct competition competition; /* this run's figures, always in `with` */
	struct memory_cgroup group;
	struct competitor competitors[COMPETITORS_MAX];
	pid_t pids[COMPETITORS_MAX]; /* also when they have ended */
	uint64_t before[NR_COMPETITION_FIGURES];
};

/* Fills pressure->load as well. After run_once() call pressure_close(), also if it failed. */
void pressure_init(struct pressure *pressure, const struct compete_options *options, bool alone);
/* Nothing is left afterwards. STATUS_OK, or the exit status after a message. */
int pressure_close(struct pressure *pressure);

#endif
