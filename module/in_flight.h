/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the calls that the memory manager has made into this module's code. The sum over
 * CPUs is exact once no VMA leads here any more: from then on it only falls.
 *
 * The counts order no memory. A CPU with weak ordering, such as arm64, may show a count to others
 * later than it counts, or before the stores of its call. The grace periods in
 * pfstat_attempt_record() and drain_calls() come before rings are emptied and code is freed.
 */
#ifndef PFSTAT_IN_FLIGHT_H
#define PFSTAT_IN_FLIGHT_H

#include <linux/percpu.h>

DECLARE_PER_CPU(long, pfstat_in_flight);

static inline void pfstat_in_flight_enter(void)
{
	this_cpu_inc(pfstat_in_flight);
	barrier(); /* the call counts before it looks at the operations */
}

static inline void pfstat_in_flight_leave(void)
{
	barrier();
	this_cpu_dec(pfstat_in_flight);
}

long pfstat_in_flight_sum(void);

#endif
