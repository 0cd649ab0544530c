/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether a program runs on behalf of a thread, or in an unrelated thread's interrupt. */
#ifndef PFSTAT_BPF_CONTEXT_H
#define PFSTAT_BPF_CONTEXT_H

#include "common.bpf.h"
#include "kernel_variable.bpf.h"

/* preempt_count bits: NMI, interrupt, softirq being served. */
#define CONTEXT_INTERRUPT 0x00ff0100

/* v7.3: a count of disabled interrupts has the old place of these bits, which moved up. */
#define CONTEXT_INTERRUPT_ABOVE 0xff000100

/* Set by the loader: the kernel counts disabled interrupts, and has these variables. */
const volatile bool have_interrupt_count, have_preempt_count, have_pcpu_hot;

#ifdef __TARGET_ARCH_arm64
/* The count of the current thread. The other half states whether it shall be preempted. */
struct thread_info {
	__u64 preempt_count;
} __attribute__((preserve_access_index));

struct task_struct___counted {
	struct thread_info thread_info;
} __attribute__((preserve_access_index));

static __always_inline bool context_read(__u32 *preempt_count)
{
	const struct task_struct___counted *task = (const void *)bpf_get_current_task_btf();

	*preempt_count = task->thread_info.preempt_count;
	return true;
}
#else
/* From v6.2 to v6.14 this struct held the count, which before and after is a separate variable. */
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));

static __always_inline bool context_read(__u32 *preempt_count)
{
	const struct pcpu_hot *hot;

	if (have_preempt_count) {
		*preempt_count =
			*(const int *)
				bpf_this_cpu_ptr(kernel_variable(PFSTAT_KERNEL_PREEMPT_COUNT));
	} else if (have_pcpu_hot) {
		hot = bpf_this_cpu_ptr(kernel_variable(PFSTAT_KERNEL_PCPU_HOT));
		*preempt_count = hot->preempt_count;
	} else {
		return false;
	}
	return true;
}
#endif

/* The thread doing this, or 0 for an interrupt, the idle thread, or unknown. */
static __always_inline __u32 context_tid(void)
{
	const __u32 interrupts = have_interrupt_count ? CONTEXT_INTERRUPT_ABOVE : CONTEXT_INTERRUPT;
	__u32 in;

	if (!context_read(&in))
		return 0;
	return in & interrupts ? 0 : bpf_get_current_pid_tgid();
}

#endif
