/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits that a run must keep: pure functions over a filled report. */
#ifndef PFSTAT_USER_LIMITS_H
#define PFSTAT_USER_LIMITS_H

#include <stdint.h>
#include <stdio.h>

#include "report/report.h"

/* COUNT_NA, or a share that is NAN: no limit. */
struct limits {
	uint64_t max_major;
	uint64_t max_fault_ns; /* the sum of all faults' time */
	double max_share;      /* of the run's time with a fault in progress, 0 to 1 */
};

void limits_init(struct limits *limits);

/* Prints a line for each limit. Returns how many are exceeded, or could not be checked. */
unsigned int limits_check(FILE *out, const struct limits *limits, const struct report *run);

#endif
