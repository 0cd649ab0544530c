// SPDX-License-Identifier: GPL-2.0-only
/* Is current_task a member of pcpu_hot? No: 6.1, 6.15 and later. Yes: 6.2 to 6.14. */
#include <linux/percpu.h>
#include <asm/current.h>

struct task_struct *probe(void);
struct task_struct *probe(void)
{
	return this_cpu_read(pcpu_hot.current_task);
}
