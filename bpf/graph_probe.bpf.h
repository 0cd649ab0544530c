/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the programs whose names end in _kprobe. They replace fentry and fexit on a preemptible
 * kernel. A thread preempted in an fentry program makes the kernel skip the program for all other
 * threads on the CPU until the preempted thread runs again. Function-graph tracing, on which these
 * programs are based since v6.14, disables preemption. A program gets addresses only, and at a
 * function's return not even the arguments: these are kept in the thread's state.
 */
#ifndef PFSTAT_BPF_GRAPH_PROBE_H
#define PFSTAT_BPF_GRAPH_PROBE_H

#include <pfstat/kernel_symbol.h>

#include "common.bpf.h"
#include "vma.bpf.h"

/* A kernel function. The loader replaces the constant with it. */
static void *(*const rdonly_cast)(const void *object,
				  __u32 type) = (void *)(PFSTAT_KERNEL_FUNCTION +
							 PFSTAT_KERNEL_RDONLY_CAST);

/* The numbers of these types in the kernel. */
extern const volatile __u32 vm_area_struct_type, vm_fault_type;
/* Set if these programs are loaded. Only such a kernel has the function. */
extern const volatile bool have_graph_probes;

/* Makes an address a pointer to a readable object. */
#define KERNEL_OBJECT(address, type) \
	((const struct type *)rdonly_cast((const void *)(address), type##_type))

#endif
