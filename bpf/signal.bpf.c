// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts targets' faults that end as a signal. SIGSEGV: mostly without a mapping, or without the
 * right to access it, for which the kernel never calls handle_mm_fault(). SIGBUS: the page cannot
 * be read.
 */
#include "common.bpf.h"

#define SIGBUS	7
#define SIGSEGV 11

/* si_code in the kernel's SIGSEGV for an access. asm-generic/siginfo.h has SEGV_MAPERR first. */
#define SEGV_FIRST 1
#define SEGV_LAST  0x7f /* SI_KERNEL follows: no address is known, so it was no page fault */

/* si_codes of the kernel's SIGBUS for an access: beyond the file's end, or poisoned memory. */
#define BUS_ADRERR    2
#define BUS_MCEERR_AR 4

/* Used instead of an address: the signal has no further information. */
#define SEND_SIG_LAST 1

struct kernel_siginfo {
	int si_code;
} __attribute__((preserve_access_index));

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo *info, struct task_struct *task)
{
	int code;

	if ((signal != SIGSEGV && signal != SIGBUS) || (unsigned long)info <= SEND_SIG_LAST ||
	    stopped || !is_target(task->tgid, task->pid))
		return 0;
	code = BPF_CORE_READ(info, si_code);
	if (signal == SIGSEGV && code >= SEGV_FIRST && code <= SEGV_LAST)
		count(PFSTAT_COUNT_SEGV);
	else if (signal == SIGBUS && (code == BUS_ADRERR || code == BUS_MCEERR_AR))
		count(PFSTAT_COUNT_BUS);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
