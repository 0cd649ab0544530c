/* SPDX-License-Identifier: GPL-2.0-only */
/* The wrappers of the VMA fault operations: the hot path. */
#ifndef PFSTAT_FAULT_H
#define PFSTAT_FAULT_H

#include <linux/percpu.h>
#include <linux/types.h>

struct vm_operations_struct;

/*
 * Calls from the memory manager into this module's code. The sum over CPUs is
 * exact once nothing leads here any more: then it only falls.
 */
DECLARE_PER_CPU(long, pfstat_in_flight);

static inline void pfstat_enter(void)
{
	this_cpu_inc(pfstat_in_flight);
}

static inline void pfstat_leave(void)
{
	this_cpu_dec(pfstat_in_flight);
}

long pfstat_fault_in_flight(void);

/* Replaces each fault operation that is there by its wrapper. */
void pfstat_fault_wrap(struct vm_operations_struct *ops);
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
#endif
