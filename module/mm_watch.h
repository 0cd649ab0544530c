/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes whose faults are counted at handle_mm_fault(). They are known by their
 * signal_struct, which all threads in a process share, including those that the kernel makes on the
 * process's behalf without a separate event, for io_uring and vhost. A single thread can be watched
 * also.
 *
 * The filter rules out most other processes in a few instructions. A count above 0 may belong to
 * another process, with the same hash.
 */
#ifndef PFSTAT_MM_WATCH_H
#define PFSTAT_MM_WATCH_H

#define MM_FILTER_BITS 12

#ifndef __ASSEMBLY__
#include <linux/bits.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <pfstat/event.h>

#include "mm_thread.h"

/* The number of watched processes and threads whose signal_struct has this hash. */
extern u16 pfstat_mm_filter[BIT(MM_FILTER_BITS)];

/* False: it is not watched. */
static __always_inline bool pfstat_mm_may_be_watched(const struct task_struct *task)
{
	return READ_ONCE(pfstat_mm_filter[pfstat_mm_hash(task->signal, MM_FILTER_BITS)]);
}

/* current's slot at the start of a fault. NULL: current is not watched, or there is no room. */
struct mm_thread *pfstat_mm_find_thread(void);

/*
 * Watches a thread, or the process with this number and, if followed, the children. 0, -ESRCH or
 * -ENOMEM. The process is watched from the first instant: the threads need no visit.
 */
int pfstat_mm_watch(pid_t number, enum pfstat_target how);
void pfstat_mm_ignore(pid_t number);
void pfstat_mm_ignore_all(void);

/*
 * A user of the slots comes or goes: a session that records, or the function held. The first one
 * finds an empty table. While there is one, the slots of freed tasks are emptied. 0 or an errno.
 */
int pfstat_mm_watch_open(void);
void pfstat_mm_watch_close(void);

/* The event for new tasks, and the slots: 0 or an errno. */
int pfstat_mm_watch_start(void);
void pfstat_mm_watch_stop(void);
#endif

#endif
