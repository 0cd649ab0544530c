/* SPDX-License-Identifier: GPL-2.0-only */
/* The current thread's activity: a system call, an exception, or a thread of the kernel. */
#ifndef PFSTAT_BPF_DOING_H
#define PFSTAT_BPF_DOING_H

#include <pfstat/event.h>

#include "arch.bpf.h"

/*
 * Returns enum pfstat_waker. A user worker (io_uring, vhost) has a copy of the registers of the
 * thread that started it.
 */
static __always_inline __u32 current_doing(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs;
	int number;

	if (task->flags & PF_KTHREAD)
		return PFSTAT_WAKER_KERNEL;
	if (task->flags & (PF_IO_WORKER | PF_USER_WORKER))
		return PFSTAT_WAKER_UNKNOWN;
	regs = (const void *)bpf_task_pt_regs((void *)task);
	if (arch_is_compat(task, regs))
		return PFSTAT_WAKER_UNKNOWN;
	number = regs->ARCH_ENTRY;
	if (number == -1)
		return PFSTAT_WAKER_EXCEPTION;
	if (number < 0 || number > PFSTAT_WAKER_MAX - PFSTAT_WAKER_CALL)
		return PFSTAT_WAKER_UNKNOWN;
	return PFSTAT_WAKER_CALL + number;
}

#endif
