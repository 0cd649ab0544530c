/* SPDX-License-Identifier: GPL-2.0-only */
/* A variable of the kernel, for each CPU, as bpf_this_cpu_ptr() and bpf_per_cpu_ptr() take it. */
#ifndef PFSTAT_BPF_KERNEL_VARIABLE_H
#define PFSTAT_BPF_KERNEL_VARIABLE_H

#include <linux/types.h>

#include <pfstat/kernel_symbol.h>

/* The loader replaces the constant with the variable. */
static __always_inline const void *kernel_variable(enum pfstat_kernel_symbol index)
{
	const void *variable;

	asm volatile("%[variable] = %[constant] ll"
		     : [variable] "=r"(variable)
		     : [constant] "i"((__u64)PFSTAT_KERNEL_VARIABLE << 32 | index));
	return variable;
}

#endif
