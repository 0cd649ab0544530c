/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides if a row can be trusted: low noise, and event counts as claimed. Pure. */
#ifndef PFSTAT_USER_JUDGE_H
#define PFSTAT_USER_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/statistics.h"
#include "util/why.h"

enum bench_event { BENCH_SWITCHES, BENCH_SYSCALLS, BENCH_FAULTS, BENCH_MAJOR, BENCH_NR_EVENTS };

#define BENCH_EVENT_NAMES { "context switches", "system calls", "page faults", "major faults" }

/* Minimum and maximum event count per operation. */
struct bench_range {
	double min, max;
};

/* All zero: the operation makes no claim. */
struct bench_claim {
	bool made;
	struct bench_range range[BENCH_NR_EVENTS];
};

#define BENCH_ANY { 0, 1e300 }

/* COUNT_NA: not counted. */
struct bench_counts {
	uint64_t event[BENCH_NR_EVENTS];
};

/*
 * @elapsed_ns: the time counted, during which preemptions are tolerated
 * @share: the part of each event that the counter can see: getrusage(2) for one of two
 *	partners sees half of the switches
 * Returns false, and a clause in why, if the counts contradict the claim.
 */
bool judge_counts(const struct bench_claim *claim, const struct bench_counts *counts,
		  uint64_t operations, uint64_t elapsed_ns, double share, struct why *why);

/*
 * @value: the mean as printed, after the subtraction
 * Returns false, and a clause in why, if the runs differ too much.
 */
bool judge_noise(const struct statistics *statistics, double value, double half_width,
		 struct why *why);

#endif
