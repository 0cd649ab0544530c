/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and system calls of the architecture. User space has another struct pt_regs, with
 * other names. The arguments of a system call are still in it when the call returns; on arm64 the
 * first one has a place of its own, since the result replaces it. ARCH_ENTRY is the number of the
 * system call, or -1 in an exception such as a page fault.
 */
#ifndef PFSTAT_BPF_ARCH_H
#define PFSTAT_BPF_ARCH_H

#if defined(__TARGET_ARCH_x86)
#define ARCH_NR_MADVISE	     28
#define ARCH_NR_RT_SIGRETURN 15

struct pt_regs___kernel {
	unsigned long ip;
	unsigned long di, si, dx;
	unsigned long orig_ax;
} __attribute__((preserve_access_index));

#define ARCH_IP		ip
#define ARCH_ARGUMENT_1 di
#define ARCH_ARGUMENT_2 si
#define ARCH_ARGUMENT_3 dx
#define ARCH_ENTRY	orig_ax
#elif defined(__TARGET_ARCH_arm64)
#define ARCH_NR_MADVISE	     233
#define ARCH_NR_RT_SIGRETURN 139

struct pt_regs___kernel {
	unsigned long long regs[31];
	unsigned long long pc;
	unsigned long long orig_x0;
	int syscallno;
} __attribute__((preserve_access_index));

#define ARCH_IP		pc
#define ARCH_ARGUMENT_1 orig_x0
#define ARCH_ARGUMENT_2 regs[1]
#define ARCH_ARGUMENT_3 regs[2]
#define ARCH_ENTRY	syscallno
#else
#error "pfstat is for x86-64 and arm64"
#endif

#endif
