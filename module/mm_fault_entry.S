/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way from handle_mm_fault() into the module and back. ftrace makes the function call
 * pfstat_mm_fault_entry as its first instruction. If the process is not watched, it returns, and
 * the kernel's function runs: no instruction of C is in the way of other processes, and the CPU's
 * prediction of returns stays right. The filter is read first, because it takes 8 KiB, which stay
 * in the CPU's caches. The thread's slot is anywhere in 4 MiB.
 *
 * Otherwise it drops the return address, so that pfstat_mm_fault() runs as if it had been called
 * instead of handle_mm_fault(): with its arguments and the thread's slot, and with its caller. To
 * run the kernel's function, that calls the part behind the first instruction.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/cpufeatures.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

#include "mm_fault_entry.h"
#include "mm_thread.h"
#include "mm_watch.h"
#include "offsets.h"

#ifdef PFSTAT_HAVE_PCPU_HOT
#define CURRENT PER_CPU_VAR(pcpu_hot + HOT_CURRENT)
#else
#define CURRENT PER_CPU_VAR(current_task)
#endif

/* v6.2: functions may need more room before them than other symbols. */
#ifndef SYM_F_ALIGN
#define SYM_F_ALIGN SYM_A_ALIGN
#endif

	.text

/* As pfstat_mm_thread_home() and pfstat_mm_may_be_watched(). */
SYM_FUNC_START(pfstat_mm_fault_entry)
	movq	CURRENT, %rax
	movabsq	$MM_HASH_FACTOR, %r8
	movq	TASK_SIGNAL(%rax), %r10
	imulq	%r8, %r10
	shrq	$(64 - MM_FILTER_BITS), %r10
	cmpw	$0, pfstat_mm_filter(%r10, %r10)
	je	.Lother
	imulq	%rax, %r8
	shrq	$(64 - MM_THREAD_BITS), %r8
	shlq	$MM_THREAD_SHIFT, %r8
	addq	pfstat_mm_threads(%rip), %r8
	cmpq	%rax, (%r8)
	je	.Lwatched
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	call	pfstat_mm_find_thread
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	movq	%rax, %r8
	testq	%r8, %r8
	je	.Lother

.Lwatched:
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	jmp	pfstat_mm_fault

	/*
	 * The RET below is of a call that was not counted, because ftrace made it. On the other way
	 * the dropped address stays in the CPU's stack of predictions, uncounted: never too few.
	 */
.Lother:
	UNWIND_HINT_FUNC
#ifdef X86_FEATURE_CALL_DEPTH /* since v6.2 */
	CALL_DEPTH_ACCOUNT
#endif
	RET
SYM_FUNC_END(pfstat_mm_fault_entry)

SYM_START(pfstat_mm_fault_body, SYM_L_GLOBAL, SYM_F_ALIGN)
	jmp	handle_mm_fault + MM_FAULT_BODY
SYM_FUNC_END(pfstat_mm_fault_body)
