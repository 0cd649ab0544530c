/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The architecture's registers and system calls. User space has another struct pt_regs, with other
 * names. A system call's arguments are still in the registers when the call returns. On arm64 the
 * first argument has a separate place, since the result replaces it. ARCH_ENTRY is the system call
 * number, or -1 in an exception such as a page fault.
 */
#ifndef PFSTAT_BPF_ARCH_H
#define PFSTAT_BPF_ARCH_H

#include "common.bpf.h"

/* The same in the 32-bit tables of both. */
#define ARCH_COMPAT_SIGRETURN	 (PFSTAT_SYSCALL_COMPAT | 119)
#define ARCH_COMPAT_RT_SIGRETURN (PFSTAT_SYSCALL_COMPAT | 173)

#if defined(__TARGET_ARCH_x86)
#define ARCH_NR_MMAP		9
#define ARCH_NR_MUNMAP		11
#define ARCH_NR_BRK		12
#define ARCH_NR_RT_SIGRETURN	15
#define ARCH_NR_MREMAP		25
#define ARCH_NR_MADVISE		28
#define ARCH_NR_CLONE		56
#define ARCH_NR_FORK		57
#define ARCH_NR_VFORK		58
#define ARCH_NR_MLOCK		149
#define ARCH_NR_MLOCKALL	151
#define ARCH_NR_FADVISE64	221
#define ARCH_NR_MLOCK2		325
#define ARCH_NR_CLONE3		435
#define ARCH_NR_PROCESS_MADVISE 440

struct pt_regs___kernel {
	unsigned long ip, cs, sp;
	unsigned long di, si, dx, r10, r8, r9;
	unsigned long orig_ax;
} __attribute__((preserve_access_index));

#define ARCH_IP		ip
#define ARCH_ARGUMENT_1 di
#define ARCH_ARGUMENT_2 si
#define ARCH_ARGUMENT_3 dx
#define ARCH_ARGUMENT_4 r10
#define ARCH_ARGUMENT_5 r8
#define ARCH_ARGUMENT_6 r9
#define ARCH_ENTRY	orig_ax

struct thread_info___compat {
	__u32 status;
} __attribute__((preserve_access_index));

struct task_struct___compat {
	struct thread_info___compat thread_info;
} __attribute__((preserve_access_index));

/* True in a 32-bit call, which a 64-bit program can make too, by int 0x80. */
static __always_inline bool arch_is_compat(const void *task, const struct pt_regs___kernel *regs)
{
	const struct task_struct___compat *compat = task;

	(void)regs;
	return compat->thread_info.status & 0x2; /* TS_COMPAT */
}

/* Bits in an entry of the last page table. */
#define ARCH_ENTRY_UFFD_WP    (1UL << 10)
#define ARCH_ENTRY_SOFT_DIRTY (1UL << 11)

#define ARCH_CALL_BYTES 7 /* the longest call instruction without a prefix */

/* CALL through a register or memory: the opcode 0xff, and 2 in the middle of the next byte. */
static __always_inline bool arch_is_indirect_call(const __u8 *code)
{
	return code[0] == 0xff && (code[1] & 0x38) == 0x10;
}

/* True if the bytes end with a call: 0xe8 and a 4-byte offset, or a call of 2 to 7 bytes. */
static __always_inline bool arch_is_call(const __u8 *code)
{
	return code[2] == 0xe8 || arch_is_indirect_call(&code[5]) ||
	       arch_is_indirect_call(&code[4]) || arch_is_indirect_call(&code[3]) ||
	       arch_is_indirect_call(&code[1]) || arch_is_indirect_call(&code[0]);
}

/* The return address is on top of the stack, if the function has pushed nothing. */
static __always_inline __u64 arch_return_address(const struct pt_regs___kernel *regs)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)regs->sp);
	return address;
}
#elif defined(__TARGET_ARCH_arm64)
#define ARCH_NR_RT_SIGRETURN	139
#define ARCH_NR_BRK		214
#define ARCH_NR_MUNMAP		215
#define ARCH_NR_MREMAP		216
#define ARCH_NR_CLONE		220
#define ARCH_NR_MMAP		222
#define ARCH_NR_FADVISE64	223
#define ARCH_NR_MLOCK		228
#define ARCH_NR_MLOCKALL	230
#define ARCH_NR_MADVISE		233
#define ARCH_NR_MLOCK2		284
#define ARCH_NR_CLONE3		435
#define ARCH_NR_PROCESS_MADVISE 440

struct pt_regs___kernel {
	unsigned long long regs[31];
	unsigned long long pc;
	unsigned long long pstate;
	unsigned long long orig_x0;
	int syscallno;
} __attribute__((preserve_access_index));

#define ARCH_IP		      pc
#define ARCH_ARGUMENT_1	      orig_x0
#define ARCH_ARGUMENT_2	      regs[1]
#define ARCH_ARGUMENT_3	      regs[2]
#define ARCH_ARGUMENT_4	      regs[3]
#define ARCH_ARGUMENT_5	      regs[4]
#define ARCH_ARGUMENT_6	      regs[5]
#define ARCH_ENTRY	      syscallno

/* True in a 32-bit program, whose system calls have other numbers. */
static __always_inline bool arch_is_compat(const void *task, const struct pt_regs___kernel *regs)
{
	__u64 pstate = regs->pstate;

	(void)task;
	barrier_var(pstate);  /* CO-RE cannot relocate a partial load of a field */
	return pstate & 0x10; /* PSR_MODE32_BIT */
}

/* Not read: the kernel has no function to trace for an entry that allows the access. */
#define ARCH_ENTRY_UFFD_WP    0
#define ARCH_ENTRY_SOFT_DIRTY 0

#define ARCH_CALL_BYTES 4

/* BL to an offset, or BLR through a register, also with a pointer to authenticate. */
static __always_inline bool arch_is_call(const __u8 *code)
{
	return (code[3] & 0xfc) == 0x94 || ((code[3] & 0xfe) == 0xd6 && code[2] == 0x3f);
}

/* The link register, if the function has called no other one. */
static __always_inline __u64 arch_return_address(const struct pt_regs___kernel *regs)
{
	return regs->regs[30];
}
#else
#error "pfstat is for x86-64 and arm64"
#endif

#endif
