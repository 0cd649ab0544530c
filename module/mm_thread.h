/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads whose faults are counted at handle_mm_fault(). A thread has a slot, which lies where
 * a hash of its task_struct points, or, if another thread has that one, a few slots further. The
 * slots lie in one table that stays until the module goes, so that a fault needs no lock and no
 * reference to find its own.
 *
 *	owner:	0 --watch, fork--> task|FRESH --first fault--> task --ignore, free, stop--> 0
 *
 * Only the thread itself uses the other members, except for `attention`, which belongs to the
 * slot as a home and changes under the table's lock.
 */
#ifndef PFSTAT_MM_THREAD_H
#define PFSTAT_MM_THREAD_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/current.h>
#include <pfstat/event.h>

struct vm_area_struct;

#define MM_THREAD_BITS	14
#define MM_THREAD_SLOTS BIT(MM_THREAD_BITS)

/* In owner, with the address: the thread has not faulted since it is watched. */
#define MM_THREAD_FRESH 1UL
/* In attention: the owner is fresh. The other bits count the threads that lie further. */
#define MM_HOME_FRESH 0x80000000U

/* The page of a fault; inode 0: no file. */
struct mm_page {
	u64 inode;
	u64 pgoff;
	u32 dev;
};

struct mm_thread {
	unsigned long owner;
	u32 attention; /* not 0: a thread that is not the owner must look further */
	u8 how;	       /* enum pfstat_target */
	u8 noted;      /* a later function noted the kind of the fault, and its page */
	u8 kind;       /* enum pfstat_fault_kind */
	u8 reserved;
	/* The task's own counts, if every fault came here. */
	u64 minor;
	u64 major;
	/* The arguments of the fault on the fast path, and its start in cycles. */
	struct vm_area_struct *vma;
	unsigned long address;
	u64 start;
	u32 flags;
	struct mm_page page; /* as noted */
} ____cacheline_aligned;

extern struct mm_thread *pfstat_mm_threads;

static __always_inline struct mm_thread *pfstat_mm_thread_home(const struct task_struct *task)
{
	const u64 hash = (u64)task * 0x9e3779b97f4a7c15ULL;

	return &pfstat_mm_threads[hash >> (64 - MM_THREAD_BITS)];
}

/* The slot of a task, fresh or not; NULL: it has none. */
struct mm_thread *pfstat_mm_thread_of(const struct task_struct *task);
/* current's slot at the begin of a fault, no longer fresh; NULL: it is not watched. */
struct mm_thread *pfstat_mm_thread_find(void);
/* A fault of current that is not to be counted has ended. */
void pfstat_mm_thread_pass_over(struct mm_thread *thread);

int pfstat_mm_thread_start(void); /* the table, and the events of threads: 0 or an errno */
void pfstat_mm_thread_stop(void); /* of the events; no thread is watched */
void pfstat_mm_thread_exit(void);

/*
 * A thread, or the process of that number with its threads and, if followed, its children. 0,
 * -ESRCH, or -ENOSPC if it got no slot.
 */
int pfstat_mm_thread_watch(pid_t number, enum pfstat_target how);
void pfstat_mm_thread_ignore(pid_t number);
void pfstat_mm_thread_ignore_all(void);

/* Adds the difference between the task's counts and the thread's to the missed faults. */
void pfstat_mm_thread_settle(struct mm_thread *thread, const struct task_struct *task);

struct mm_missed {
	u64 minor, major; /* mod 2^64 */
	u64 threads;	  /* that got no slot */
};

struct mm_missed pfstat_mm_thread_missed(void);
void pfstat_mm_thread_reset(void);
size_t pfstat_mm_thread_bytes(void);

#endif
