/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The faults' share of the time that the threads got. A thread that waits for a CPU, or is stopped,
 * makes the run longer and the faults' share of the run smaller, but not the faults' share of what
 * the thread does. Pure functions.
 */
#ifndef PFSTAT_USER_ACTIVE_SHARE_H
#define PFSTAT_USER_ACTIVE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/report.h"

/* Sums over all threads, in a run or in a part of one. */
struct active_time {
	uint64_t fault_ns;
	uint64_t least_ns, most_ns; /* bounds for the active time. COUNT_NA: not known */
	uint64_t waiting_ns;	    /* waits for a CPU outside faults */
	uint64_t wall_ns;
};

struct active_share {
	double least, most; /* NAN if not known */
	/*
	 * The threads were asleep or stopped for most of the run. What the faults cost then depends
	 * on what waits for the threads.
	 */
	bool idle;
};

struct active_share active_share_of(const struct active_time *time);
struct active_share active_share_of_run(const struct report *run);

/*
 * The share of the run's CPU time, from rusage. Writes this time to @cpu_ns. NAN if not known, or
 * if rusage lacks processes.
 */
double active_share_of_cpu(const struct report *run, uint64_t *cpu_ns);

#endif
