/* SPDX-License-Identifier: GPL-2.0-only */
/* One of the longest faults in words: its place, its sleeps, and the files of its requests. */
#ifndef PFSTAT_USER_SLOW_NAMES_H
#define PFSTAT_USER_SLOW_NAMES_H

#include "analyze/slowest.h"

struct slow_names {
	struct longest_names place;
	/*
	 * The kernel stack of each of fault.spans; NULL: not known, or a request explains it. They
	 * belong to the waits.
	 */
	const struct wait_row *waits[EXPLAIN_MAX_SPANS];
	/* The file of each of fault.requests; NULL: that of the fault, none, or not known. */
	char *files[EXPLAIN_MAX_REQUESTS];
};

/* Returns 0 or -ENOMEM. slow_names_exit() frees them in both cases. */
int slow_names_fill(struct slow_names *names, const struct slow_fault *slow,
		    const struct grouping *grouping, const struct waits *waits);
void slow_names_exit(struct slow_names *names);

#endif
