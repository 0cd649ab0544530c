/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU counter from which the timekeeper computes time: the TSC, or the virtual count of the ARM
 * generic timer. The other architecture-dependent files are clock.h, clock.c, page_table.h,
 * mm_thread.h and compat.h.
 */
#ifndef PFSTAT_CPU_COUNTER_H
#define PFSTAT_CPU_COUNTER_H

#include <linux/clocksource.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)
#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/tsc.h>

#define COUNTER_MIN_MHZ 250

static inline bool pfstat_counter_is_clock(const struct clocksource *clock)
{
	return clock->vdso_clock_mode == VDSO_CLOCKMODE_TSC;
}

/* Not ordered. Added up, not or-ed: one instruction. */
static __always_inline u64 pfstat_counter_read(void)
{
	u64 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return low + (high << 32);
}

static __always_inline u64 pfstat_counter_read_ordered(void)
{
	return rdtsc_ordered();
}

/* As pfstat_counter_read_ordered(), but added up. */
static __always_inline u64 pfstat_counter_read_end(void)
{
	u64 low, high;

	asm volatile(ALTERNATIVE_2("rdtsc", "lfence; rdtsc", X86_FEATURE_LFENCE_RDTSC, "rdtscp",
				   X86_FEATURE_RDTSCP)
		     : "=a"(low), "=d"(high)
		     :
		     : "ecx");
	return low + (high << 32);
}
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#include <asm/sysreg.h>

#define COUNTER_MIN_MHZ 1

/*
 * The timekeeper has another mode for a counter that an erratum makes unreliable. The last one
 * here is unreliable only for 32-bit programs.
 */
static inline bool pfstat_counter_is_clock(const struct clocksource *clock)
{
	return clock->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER ||
	       clock->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER_NOCOMPAT;
}

static __always_inline u64 pfstat_counter_read(void)
{
	return read_sysreg(cntvct_el0);
}

static __always_inline u64 pfstat_counter_read_ordered(void)
{
	return __arch_counter_get_cntvct();
}

static __always_inline u64 pfstat_counter_read_end(void)
{
	return __arch_counter_get_cntvct();
}
#endif

#endif
