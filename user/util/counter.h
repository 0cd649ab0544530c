/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU's constant-pace counter: the TSC, or the ARM generic timer's virtual count. A cycle is
 * one counter tick, not a core cycle. On other architectures pfdrive reads no counter: it stays 0,
 * and everything that needs it is n/a.
 */
#ifndef PFSTAT_USER_COUNTER_H
#define PFSTAT_USER_COUNTER_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>

#define COUNTER_NAME	"TSC"
#define COUNTER_MISSING "this process may not read the TSC (PR_SET_TSC)"

static inline uint64_t counter_read(void)
{
	return __rdtsc();
}

/* After all earlier instructions. */
static inline uint64_t counter_read_ordered(void)
{
	unsigned int processor;

	return __rdtscp(&processor);
}

/* Ticks a second, or 0 if the CPU does not state them. */
static inline uint64_t counter_hz(void)
{
	return 0;
}
#elif defined(__aarch64__)
#define COUNTER_NAME	"generic timer"
#define COUNTER_MISSING "this process may not read the generic timer"

static inline uint64_t counter_read(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
}

static inline uint64_t counter_read_ordered(void)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
	return count;
}

static inline uint64_t counter_hz(void)
{
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}
#else
#define COUNTER_NAME	"CPU's counter"
#define COUNTER_MISSING "pfdrive reads a counter on x86-64 and arm64 only"

static inline uint64_t counter_read(void)
{
	return 0;
}

static inline uint64_t counter_read_ordered(void)
{
	return 0;
}

static inline uint64_t counter_hz(void)
{
	return 0;
}
#endif

#endif
