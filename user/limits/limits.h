/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits that a run must keep: pure functions. */
#ifndef PFSTAT_USER_LIMITS_H
#define PFSTAT_USER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"
#include "util/subcommand.h"

/* COUNT_NA, or a share that is NAN: no limit. */
struct limits {
	uint64_t max_major;
	uint64_t max_fault_ns;	 /* the sum of all faults' time */
	double max_share;	 /* of the run's time with a fault in progress, 0 to 1 */
	uint64_t max_longest_ns; /* of one fault */
	uint64_t max_failed;	 /* faults that ended with a signal */
};

/* The limited figures of a run, or of a part of it. */
struct limit_sums {
	uint64_t major, fault_ns;
	uint64_t busy_ns; /* a fault was in progress in at least one thread */
};

void limits_init(struct limits *limits);
/* True if there is at least one limit. */
bool limits_any(const struct limits *limits);
/* True if one of the first three limits is exceeded. @elapsed_ns: of the run, or of the part. */
bool limits_exceeded(const struct limits *limits, const struct limit_sums *sums,
		     uint64_t elapsed_ns);

/* Prints a line for each limit. Returns how many are exceeded, or could not be checked. */
unsigned int limits_check(FILE *out, const struct limits *limits, const struct report *run);

extern const struct subcommand check_command;

#endif
