// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the faults of targets that end as SIGSEGV: without a mapping, or without the right to
 * access it, the kernel never calls handle_mm_fault().
 */
#include "common.bpf.h"

#define SIGSEGV 11

/* si_code of the kernel's SIGSEGV for an access; asm-generic/siginfo.h has SEGV_MAPERR first. */
#define SEGV_FIRST 1
#define SEGV_LAST  0x7f /* SI_KERNEL follows: no address is known, so it was no page fault */

/* Instead of an address: the signal has no further information. */
#define SEND_SIG_LAST 1

struct kernel_siginfo {
	int si_code;
} __attribute__((preserve_access_index));

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo *info, struct task_struct *task)
{
	int code;

	if (signal != SIGSEGV || (unsigned long)info <= SEND_SIG_LAST || stopped ||
	    !is_target(task->tgid, task->pid))
		return 0;
	code = BPF_CORE_READ(info, si_code);
	if (code >= SEGV_FIRST && code <= SEGV_LAST)
		count(PFSTAT_COUNT_SEGV);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
