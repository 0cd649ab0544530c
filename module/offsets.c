// SPDX-License-Identifier: GPL-2.0-only
/* Offsets for mm_fault_entry.S. It is compiled to assembler, from which Kbuild makes offsets.h. */
#include <linux/kbuild.h>
#include <linux/sched.h>
#include <asm/current.h>

int main(void);
int main(void)
{
	OFFSET(TASK_SIGNAL, task_struct, signal);
#ifdef PFSTAT_HAVE_PCPU_HOT
	OFFSET(HOT_CURRENT, pcpu_hot, current_task);
#endif
	return 0;
}
