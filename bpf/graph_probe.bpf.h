/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the programs whose names end in _kprobe. They replace fentry and fexit on a kernel that
 * preempts its own code. A thread that is preempted in an fentry program makes the kernel skip that
 * program for all other threads of the CPU until it runs again. Function-graph tracing, on which
 * these are since v6.14, disables preemption. A program gets addresses only, and at the return of a
 * function not even its arguments: these are kept in the thread's state.
 */
#ifndef PFSTAT_BPF_GRAPH_PROBE_H
#define PFSTAT_BPF_GRAPH_PROBE_H

#include <pfstat/kernel_symbol.h>

#include "common.bpf.h"
#include "vma.bpf.h"

/* A function of the kernel, which the loader puts in the place of the constant. */
static void *(*const rdonly_cast)(const void *object,
				  __u32 type) = (void *)(PFSTAT_KERNEL_FUNCTION +
							 PFSTAT_KERNEL_RDONLY_CAST);

/* The numbers of these types among the kernel's. */
extern const volatile __u32 vm_area_struct_type, vm_fault_type;
/* Set if these programs are loaded; only such a kernel has the function. */
extern const volatile bool have_graph_probes;

/* Makes an address a pointer to an object that can be read. */
#define KERNEL_OBJECT(address, type) \
	((const struct type *)rdonly_cast((const void *)(address), type##_type))

#endif
