/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of the last call in a fault that is counted. It waits in the thread's slot until
 * handle_mm_fault() returns, and then gets the time of that function (mm_fault.c).
 */
#ifndef PFSTAT_MM_RECORD_H
#define PFSTAT_MM_RECORD_H

#include <linux/jump_label.h>

#include "mm_thread.h"

/* On while faults come to this module, or may. */
DECLARE_STATIC_KEY_FALSE(pfstat_mm_holds);

/* The session counts all faults: records in its rings may have the time of a fault. */
extern bool pfstat_mm_record_times;

/* All with preemption off, and the last only while calls are recorded. */

/* The call was on the fast path, but the end of its fault is not: the record is made whole. */
void pfstat_mm_record_complete(struct mm_thread *thread, const struct task_struct *task);
/* Stores the record that waits in the ring of this CPU. */
void pfstat_mm_record_store(struct mm_thread *thread);
/*
 * current begins another call of a file operation. If it made one in the same fault before, its
 * record is stored now; the last one gets the time of the fault.
 */
void pfstat_mm_record_next_call(void);

#endif
