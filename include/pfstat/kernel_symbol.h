/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Variables and functions of the kernel that eBPF programs use. A program has a constant in the
 * place of each, which pfdrive replaces by its number among the kernel's types. libbpf can do
 * that too (__ksym), but reads and searches all types of the kernel for it, which takes longer
 * than loading the programs.
 */
#ifndef PFSTAT_KERNEL_SYMBOL_H
#define PFSTAT_KERNEL_SYMBOL_H

/* The upper half of a variable's constant; its index is the lower half. */
#define PFSTAT_KERNEL_VARIABLE 0x70667374
/* No helper function has so high a number; the index is added. */
#define PFSTAT_KERNEL_FUNCTION 0x70667300

enum pfstat_kernel_symbol {
	PFSTAT_KERNEL_PREEMPT_COUNT,
	PFSTAT_KERNEL_PCPU_HOT,
	PFSTAT_KERNEL_RDONLY_CAST,
	PFSTAT_KERNEL_PREEMPT_DISABLE,
	PFSTAT_KERNEL_PREEMPT_ENABLE,
	PFSTAT_NR_KERNEL_SYMBOLS,
};

#endif
