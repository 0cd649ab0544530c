/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the CPU while a program runs at a tracepoint with preemption enabled. Right before and
 * after, the kernel may still preempt the thread, so second copies remain useful. Not for programs
 * calling a non-static function: the verifier may refuse this.
 */
#ifndef PFSTAT_BPF_PREEMPT_H
#define PFSTAT_BPF_PREEMPT_H

#include <pfstat/kernel_symbol.h>

#include "common.bpf.h"

/* Set by the loader: the kernel is preemptible, and has these functions. */
extern const volatile bool have_preempt_disable;

static void (*const kernel_preempt_disable)(void) = (void *)(PFSTAT_KERNEL_FUNCTION +
							     PFSTAT_KERNEL_PREEMPT_DISABLE);
static void (*const kernel_preempt_enable)(void) = (void *)(PFSTAT_KERNEL_FUNCTION +
							    PFSTAT_KERNEL_PREEMPT_ENABLE);

static __always_inline void preempt_off(void)
{
	if (have_preempt_disable)
		kernel_preempt_disable();
}

static __always_inline void preempt_on(void)
{
	if (have_preempt_disable)
		kernel_preempt_enable();
}

#endif
