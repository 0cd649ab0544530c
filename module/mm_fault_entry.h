/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the handle_mm_fault() body starts, see mm_fault_entry.S. On other architectures the module
 * cannot take the function, so eBPF counts all faults.
 */
#ifndef PFSTAT_MM_FAULT_ENTRY_H
#define PFSTAT_MM_FAULT_ENTRY_H

#ifdef CONFIG_X86_64
#include <asm/ftrace.h>

/* An exported function starts with endbr64, if the kernel uses endbr64. The ftrace call follows. */
#ifdef CONFIG_X86_KERNEL_IBT
#define MM_FAULT_CALL 4
#else
#define MM_FAULT_CALL 0
#endif
#define MM_FAULT_BODY (MM_FAULT_CALL + MCOUNT_INSN_SIZE)
#endif

#ifndef __ASSEMBLY__
#include <linux/mm.h>

#ifdef CONFIG_X86_64
/* ftrace calls it in place of handle_mm_fault(), with the same arguments. */
void pfstat_mm_fault_entry(void);
/* handle_mm_fault() behind the ftrace call. */
vm_fault_t pfstat_mm_fault_body(struct vm_area_struct *vma, unsigned long address,
				unsigned int flags, struct pt_regs *regs);
#else
static inline void pfstat_mm_fault_entry(void)
{
}

static inline vm_fault_t pfstat_mm_fault_body(struct vm_area_struct *vma, unsigned long address,
					      unsigned int flags, struct pt_regs *regs)
{
	return handle_mm_fault(vma, address, flags, regs);
}
#endif
#endif

#endif
