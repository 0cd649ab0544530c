/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether a program runs on behalf of a thread, or in an interrupt of an unrelated one. */
#ifndef PFSTAT_BPF_CONTEXT_H
#define PFSTAT_BPF_CONTEXT_H

#include "common.bpf.h"

/* Bits of preempt_count on x86-64: an NMI, an interrupt, a softirq served. */
#define CONTEXT_INTERRUPT 0x00ff0100

/* v7.3: a count of disabled interrupts has the old place of these bits, which are higher. */
#define CONTEXT_INTERRUPT_ABOVE 0xff000100

extern const unsigned long local_interrupt_disable_state __ksym __weak;

/* From v6.2 to v6.14 the count lived in here, before and after in a variable of its own. */
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));

extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern const int __preempt_count __ksym __weak;

/* The thread that does this; 0: an interrupt, the idle thread, or unknown. */
static __always_inline __u32 context_tid(void)
{
	__u32 in, interrupts = CONTEXT_INTERRUPT;

	if (&local_interrupt_disable_state)
		interrupts = CONTEXT_INTERRUPT_ABOVE;
	if (&__preempt_count)
		in = *(const int *)bpf_this_cpu_ptr(&__preempt_count);
	else if (&pcpu_hot)
		in = ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	else
		return 0;
	return in & interrupts ? 0 : bpf_get_current_pid_tgid();
}

#endif
