/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of the last call in a counted fault. The record waits in the thread's slot until
 * handle_mm_fault() returns, and then gets the time of that function (mm_fault.c).
 */
#ifndef PFSTAT_MM_RECORD_H
#define PFSTAT_MM_RECORD_H

#include <linux/jump_label.h>

#include "mm_thread.h"

/* On while faults come to this module, or may. */
DECLARE_STATIC_KEY_FALSE(pfstat_mm_holds);

/* The session counts all faults: records in the rings may have a fault time. */
extern bool pfstat_mm_record_times;

/* All with preemption off, and the last only while calls are recorded. */

/* The call was on the fast path, but the end of the fault is not: complete the record. */
void pfstat_mm_record_complete(struct mm_thread *thread, const struct task_struct *task);
/* Stores the waiting record in this CPU's ring. */
void pfstat_mm_record_store(struct mm_thread *thread);
/*
 * current starts another file operation call. If current made one in the same fault before, the
 * earlier call's record is stored now. The last record gets the fault time.
 */
void pfstat_mm_record_next_call(void);

#endif
