/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This CPU's instance of a per-CPU struct, for the fast path. The caller has disabled preemption,
 * and no interrupt handler writes the struct, so members need no atomic additions.
 *
 * x86-64 reaches a member with one instruction, relative to %gs. Other machines add the offset of
 * the CPU to an address first: they do so once, and keep the sum.
 */
#ifndef PFSTAT_HERE_H
#define PFSTAT_HERE_H

#include <linux/compiler.h>
#include <linux/percpu.h>

#ifdef CONFIG_X86_64
#define pfstat_here(instance)			 ((typeof(raw_cpu_ptr(&(instance))))NULL)
#define pfstat_here_read(here, instance, member) ((void)(here), raw_cpu_read((instance).member))
#define pfstat_here_add(here, instance, member, by)  \
	do {                                         \
		(void)(here);                        \
		this_cpu_add((instance).member, by); \
	} while (0)
#else
#define pfstat_here(instance)			 raw_cpu_ptr(&(instance))
#define pfstat_here_read(here, instance, member) ((*(here)).member)
/* Another CPU reads the value before or after. */
#define pfstat_here_add(here, instance, member, by)  \
	do {                                         \
		__auto_type _at = &(*(here)).member; \
		WRITE_ONCE(*_at, *_at + (by));       \
	} while (0)
#endif

#endif
