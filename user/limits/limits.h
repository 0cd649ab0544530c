/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits that a run must keep, in whole or within a window, and the options that set them. Pure:
 * reads no clock.
 */
#ifndef PFSTAT_USER_LIMITS_H
#define PFSTAT_USER_LIMITS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
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

/* A running measurement's sums within the last seconds. Pure: reads no clock. */

/* The sums at one point in time. */
struct limit_mark {
	uint64_t ns;
	struct limit_sums sums;
};

/* A ring of marks, the first within the window. A zeroed window is closed. */
struct limit_window {
	uint64_t window_ns;
	struct limit_mark *marks;
	size_t first, nr, size;
};

/* @step_ns: usual distance between two limit_window_add() calls. Returns 0 or -ENOMEM. */
int limit_window_open(struct limit_window *window, uint64_t window_ns, uint64_t step_ns);
void limit_window_close(struct limit_window *window);
/*
 * Adds the sums since the measurement started, as of now. Returns the growth since the first mark
 * at most window_ns old, so it never covers more than the window.
 */
struct limit_sums limit_window_add(struct limit_window *window, uint64_t now_ns,
				   const struct limit_sums *sums);

/*
 * The options that set limits: --max-major, --max-fault-time and --max-share, for check also
 * --max-fault and --max-failed.
 */

/* The input is a struct limits after limits_init(). */
extern const struct argp limit_argp;
extern const struct argp check_limit_argp;

#endif
