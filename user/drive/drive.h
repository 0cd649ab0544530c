/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes a command to make accesses: all runs, their memory, and their report. */
#ifndef PFSTAT_USER_DRIVE_H
#define PFSTAT_USER_DRIVE_H

#include "analyze/accounts/cachegrind.h"
#include "drive/run.h"

/*
 * Simulates a run's accesses with valgrind's cachegrind, for machines without a PMU. It runs
 * `pfdrive helper loop' with the same options, once with the accesses and once without. The
 * difference belongs to the loop.
 */

/* arguments: the drive's, ended by NULL. STATUS_OK, or the exit status after a message. */
int cachegrind_run(struct cache_simulation *simulation, char *const *arguments);
void cachegrind_run_exit(struct cache_simulation *simulation);

/* Executes a command to make accesses: all runs, and their report. */

struct drive_plan {
	const struct options *options;
	char *const *arguments; /* the command's, after argv[0]: valgrind repeats the accesses */
	/*
	 * Makes one run and the result; run_once() if NULL. Returns STATUS_OK, or the exit status
	 * after a message.
	 */
	int (*make)(struct run_plan *plan, struct result *result, const void *context);
	const void *context;
};

/* Returns the exit status. */
int drive_main(const struct drive_plan *plan);

/*
 * Makes only the accesses, for valgrind to watch. If bare, makes everything except the accesses,
 * for valgrind to subtract. Returns the exit status.
 */
int drive_accesses(const struct options *options, bool bare);

#endif
