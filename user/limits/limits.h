/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits a run must keep: pure functions. */
#ifndef PFSTAT_USER_LIMITS_H
#define PFSTAT_USER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"
#include "util/subcommand.h"

/* COUNT_NA, or a NAN share: no limit. */
struct limits {
	uint64_t max_major;
	uint64_t max_fault_ns; /* the sum over all faults */
	/* share of the run with a fault in progress, and of the threads' active time, 0 to 1 */
	double max_share;
	uint64_t max_longest_ns; /* for one fault */
	uint64_t max_failed;	 /* faults ending with a signal */
};

/* The limited figures for a run, or for part of it. */
struct limit_sums {
	uint64_t major, fault_ns;
	uint64_t busy_ns;		/* a fault was in progress in at least one thread */
	uint64_t active_ns, waiting_ns; /* see active_share.h; 0 if not known */
};

void limits_init(struct limits *limits);
/* True if there is at least one limit. */
bool limits_any(const struct limits *limits);
/*
 * True if one of the first three limits is exceeded. @elapsed_ns: duration of the run, or of the
 * part.
 */
bool limits_exceeded(const struct limits *limits, const struct limit_sums *sums,
		     uint64_t elapsed_ns);

/* Prints a line for each limit. Returns how many are exceeded, or could not be checked. */
unsigned int limits_check(FILE *out, const struct limits *limits, const struct report *run);

extern const struct subcommand check_command;

#endif
