/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slow path: an attempt is one call to an original operation. The attempt is timed, classified,
 * linked with the fault's earlier attempts, counted and stored.
 */
#ifndef PFSTAT_ATTEMPT_H
#define PFSTAT_ATTEMPT_H

#include <linux/mm.h>
#include <linux/sched.h>

#include "clock.h"
#include "compat.h"
#include "retry.h"
#include "wrapping.h"

/* The page window in a map_pages call, around the faulting page. See record.h. */
struct around_window {
	u16 before;
	u16 pages;
};

struct attempt {
	const struct fault_wrapping *wrapping;
	struct moment start;
	u64 inode;
	unsigned long switches; /* see pfstat_attempt_switches() */
	u64 earlier_ns;		/* see struct mm_link */
	u8 op;			/* enum pfstat_op */
	u8 before;		/* enum pfstat_before, what the call met */
	u8 cause;
	bool remote;		     /* a fault on another process's memory */
	struct around_window around; /* for map_pages */
	u64 duration_ns;
	vm_fault_t result;
};

/*
 * Both context switch counts for a thread in one number, which takes one register over the call.
 * The unit is not a power of two, so the compiler multiplies an operand in memory.
 */
#define ATTEMPT_PREEMPTED_UNIT 1000000007UL

static __always_inline unsigned long pfstat_attempt_switches(const struct task_struct *task)
{
	return task->nivcsw * ATTEMPT_PREEMPTED_UNIT + task->nvcsw;
}

/* Each calls the original operation and returns the operation's result. */
vm_fault_t pfstat_attempt_fault(const struct fault_wrapping *wrapping, struct vm_fault *vmf);
vm_fault_t pfstat_attempt_map_pages(const struct fault_wrapping *wrapping, struct vm_fault *vmf,
				    pgoff_t start_pgoff, pgoff_t end_pgoff);
vm_fault_t pfstat_attempt_huge_fault(const struct fault_wrapping *wrapping, struct vm_fault *vmf,
				     compat_huge_size_t size);
vm_fault_t pfstat_attempt_page_mkwrite(const struct fault_wrapping *wrapping, struct vm_fault *vmf);
vm_fault_t pfstat_attempt_pfn_mkwrite(const struct fault_wrapping *wrapping, struct vm_fault *vmf);

/*
 * Infers from the result what a ->fault call that started then met. The call was the first attempt
 * at a program's own fault.
 */
enum pfstat_before pfstat_attempt_met(const struct vm_fault *vmf, vm_fault_t result,
				      struct retry_start start);
/* Classifies and records a returned call. All members in the attempt are set. */
void pfstat_attempt_end(const struct attempt *attempt, const struct vm_fault *vmf);

extern bool pfstat_attempt_recording;

static __always_inline bool pfstat_attempt_is_recording(void)
{
	return READ_ONCE(pfstat_attempt_recording);
}

/*
 * While off, calls are forwarded and leave no record. Switching off takes two grace periods. After
 * them no record is stored any more.
 */
void pfstat_attempt_record(bool on);
/*
 * Calls that have begun by now leave no record, even if they end in a later session. Only
 * while nothing is recorded.
 */
void pfstat_attempt_forget(void);

#endif
