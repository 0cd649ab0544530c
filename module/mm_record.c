// SPDX-License-Identifier: GPL-2.0-only
/* A call's record waiting for the end of the fault, see mm_record.h. */
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "mm_record.h"
#include "ring.h"

DEFINE_STATIC_KEY_FALSE(pfstat_mm_holds);
bool pfstat_mm_record_times;

void pfstat_mm_record_store(struct mm_thread *thread)
{
	thread->waits = false;
	pfstat_ring_store(&thread->record);
}

void pfstat_mm_record_complete(struct mm_thread *thread, const struct task_struct *task)
{
	struct pfstat_record *record = &thread->record;

	thread->state = MM_STATE_SLOW;
	thread->waits = true;
	if (!this_cpu_read(pfstat_rings.frames))
		record->pfn = PFSTAT_NO_PFN;
	record->earlier_ns = 0;
	record->address = thread->address;
	record->tid = task->pid;
	record->pid = task->tgid;
	record->flags = thread->flags;
	record->ip = task == current ? instruction_pointer(task_pt_regs(current)) : 0;
	record->fault_ns = 0;
}

void pfstat_mm_record_next_call(void)
{
	struct mm_thread *thread = pfstat_mm_thread_in_fault();

	if (thread && thread->state == MM_STATE_CALLED)
		pfstat_mm_record_complete(thread, current);
	if (thread && thread->waits)
		pfstat_mm_record_store(thread);
}
