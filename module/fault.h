/* SPDX-License-Identifier: GPL-2.0-only */
/* The wrappers of the VMA fault operations: the hot path. */
#ifndef PFSTAT_FAULT_H
#define PFSTAT_FAULT_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "tally.h"

struct shadow;
struct vm_operations_struct;

/* Of a record of a plain call: from dev on, what is the same for all of a shadow's. */
struct fault_template {
	u64 words[2];
};

/*
 * Calls from the memory manager into this module's code. The sum over CPUs is
 * exact once nothing leads here any more: then it only falls.
 */
DECLARE_PER_CPU(long, pfstat_in_flight);

static inline void pfstat_enter(void)
{
	this_cpu_inc(pfstat_in_flight);
	barrier();	/* what is looked at next, is looked at while it counts */
}

static inline void pfstat_leave(void)
{
	barrier();
	this_cpu_dec(pfstat_in_flight);
}

long pfstat_fault_in_flight(void);

/* Replaces each fault operation that the shadow has by its wrapper, and makes the templates. */
void pfstat_fault_wrap(struct shadow *shadow);
/* Puts the original ones back, in place, while others may call them. */
void pfstat_fault_unwrap(struct vm_operations_struct *ops,
			 const struct vm_operations_struct *original);

/* What a hooked VMA's ->fault is, for whoever must recognise it. */
unsigned long pfstat_fault_wrapper(void);

/*
 * While false, calls are passed on and leave no record: none once it returns, which
 * it then does after a grace period.
 */
void pfstat_fault_record(bool on);
/*
 * Calls that have begun by now leave no record, whenever they end: a session that began
 * meanwhile is not theirs. Only while nothing is recorded.
 */
void pfstat_fault_forget(void);
#endif
