/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel variables and functions used by eBPF programs. A program has a constant in place of each,
 * which pfdrive replaces by the number among the kernel's types. libbpf can do that too (__ksym),
 * but reads and searches all kernel types for it, which takes longer than loading the programs.
 */
#ifndef PFSTAT_KERNEL_SYMBOL_H
#define PFSTAT_KERNEL_SYMBOL_H

/* The upper half of a variable's constant. The lower half is the index. */
#define PFSTAT_KERNEL_VARIABLE 0x70667374
/* No helper function has so high a number. The index is added. */
#define PFSTAT_KERNEL_FUNCTION 0x70667300

enum pfstat_kernel_symbol {
	PFSTAT_KERNEL_PREEMPT_COUNT,
	PFSTAT_KERNEL_PCPU_HOT,
	PFSTAT_KERNEL_RUNQUEUES,
	PFSTAT_KERNEL_RDONLY_CAST,
	PFSTAT_KERNEL_PREEMPT_DISABLE,
	PFSTAT_KERNEL_PREEMPT_ENABLE,
	PFSTAT_NR_KERNEL_SYMBOLS,
};

#endif
