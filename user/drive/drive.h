/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole of a command that makes accesses: all runs, and the report of them. */
#ifndef PFSTAT_USER_DRIVE_H
#define PFSTAT_USER_DRIVE_H

#include "drive/run.h"

struct drive_plan {
	const struct options *options;
	char *const *arguments; /* of the command, after argv[0]: valgrind repeats the accesses */
	/*
	 * Makes one run and its result; NULL: run_once(). Returns STATUS_OK, or the exit status
	 * after a message.
	 */
	int (*make)(struct run_plan *plan, struct result *result, const void *context);
	const void *context;
};

/* Returns the exit status. */
int drive_main(const struct drive_plan *plan);

/*
 * Makes only the accesses, for valgrind to watch; bare: everything except the accesses, for
 * valgrind to subtract. Returns the exit status.
 */
int drive_accesses(const struct options *options, bool bare);

#endif
