/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the calls that the memory manager has made into this module's code. The sum over
 * CPUs is exact once no VMA leads here any more: from then on it only falls.
 *
 * The counts order no memory. A CPU with weak ordering, such as arm64, may show a count to others
 * later than it counts, or before the call's stores. The grace periods in pfstat_attempt_record()
 * and drain_calls() come before rings are emptied and code is freed: record-stop, ring-close-fast
 * and in-flight-drain in tests/litmus/.
 */
#ifndef PFSTAT_IN_FLIGHT_H
#define PFSTAT_IN_FLIGHT_H

#include <linux/atomic.h>
#include <linux/percpu.h>

DECLARE_PER_CPU(atomic_long_t, pfstat_in_flight);

static __always_inline void in_flight_add(long calls)
{
#ifdef CONFIG_X86_64
	this_cpu_add(pfstat_in_flight.counter, calls);
#else
	/*
	 * A thread that moves to another CPU between the address and the addition counts on the one
	 * it has left, atomically. The sum over CPUs is the same, and preemption may stay on.
	 */
	atomic_long_add(calls, raw_cpu_ptr(&pfstat_in_flight));
#endif
}

static inline void pfstat_in_flight_enter(void)
{
	in_flight_add(1);
	barrier(); /* the call counts before it looks at the operations */
}

static inline void pfstat_in_flight_leave(void)
{
	barrier();
	in_flight_add(-1);
}

long pfstat_in_flight_sum(void);

#endif
