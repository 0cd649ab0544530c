/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way from handle_mm_fault() into the module and back. ftrace makes the function call
 * pfstat_mm_fault_entry as its first instruction. That drops the return address, so that
 * pfstat_mm_fault() runs as if it had been called instead of handle_mm_fault(): with its arguments,
 * and with its caller. To run the kernel's function, it calls the part behind the first
 * instruction.
 */
#include <linux/linkage.h>
#include <asm/ftrace.h>
#include <asm/unwind_hints.h>

#include "mm_fault_entry.h"

	.text

SYM_FUNC_START(pfstat_mm_fault_entry)
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	jmp	pfstat_mm_fault
SYM_FUNC_END(pfstat_mm_fault_entry)

SYM_START(pfstat_mm_fault_body, SYM_L_GLOBAL, SYM_A_ALIGN)
	jmp	handle_mm_fault + MM_FAULT_BODY
SYM_FUNC_END(pfstat_mm_fault_body)
