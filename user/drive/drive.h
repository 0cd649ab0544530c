/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes a command to make accesses: all runs, and their report. */
#ifndef PFSTAT_USER_DRIVE_H
#define PFSTAT_USER_DRIVE_H

#include "drive/run.h"

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
