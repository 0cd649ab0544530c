/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a row can be believed: is it quiet, and does the kernel's count agree? Pure. */
#ifndef PFSTAT_USER_JUDGE_H
#define PFSTAT_USER_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/statistics.h"

enum bench_event { BENCH_SWITCHES, BENCH_SYSCALLS, BENCH_FAULTS, BENCH_MAJOR, BENCH_NR_EVENTS };

#define BENCH_EVENT_NAMES { "context switches", "system calls", "page faults", "major faults" }

/* How many of an event one operation has, at least and at most. */
struct bench_range {
	double min, max;
};

/* All zero: nothing is claimed. */
struct bench_claim {
	bool made;
	struct bench_range range[BENCH_NR_EVENTS];
};

#define BENCH_ANY { 0, 1e300 }

/* FACT_NONE where it was not seen. */
struct bench_counts {
	uint64_t event[BENCH_NR_EVENTS];
};

/*
 * elapsed_ns: how long they were counted; a preemption now and then is no contradiction.
 * share: the part of each event that the counter can see (getrusage(2) of one of two
 * partners sees half the switches). False, and a clause in why: the counts contradict.
 */
bool judge_counts(const struct bench_claim *claim, const struct bench_counts *counts,
		  uint64_t operations, uint64_t elapsed_ns, double share, char *why, size_t size);

/* False, and a clause in why: the runs differ too much. value: the mean as it is printed. */
bool judge_noise(const struct statistics *statistics, double value, double half_width, char *why,
		 size_t size);

#endif
