/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLOCK_MONOTONIC for the fast path: the value of ktime_get_mono_fast_ns() with a fraction of the
 * instructions. At each update the timekeeper publishes the conversion from the CPU's counter to
 * nanoseconds. A copy is kept here, as one line
 *
 *	ns = (cycles * mult + offset) >> CLOCK_SHIFT	(of 128 bits: nothing overflows)
 *
 * and evaluated in line. tests/litmus/clock-line.litmus has the barriers for writer and readers.
 */
#ifndef PFSTAT_CLOCK_H
#define PFSTAT_CLOCK_H

#include <linux/mm_types.h>
#include <linux/seqlock.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "cpu_counter.h"

/* The other bits hold the integer part of mult: nanoseconds per cycle on the slowest counter. */
#ifdef CONFIG_X86_64
#define CLOCK_SHIFT 62 /* 4 ns: 250 MHz */
#else
#define CLOCK_SHIFT 54 /* 1024 ns: 1 MHz */
#endif

/*
 * The struct vm_fault flags that decide whether it is the first attempt at a program's own fault.
 * The clock's gate has none of them while time does not come from the counter, so one comparison
 * decides both.
 */
#define PFSTAT_CLOCK_GATE                                                            \
	(FAULT_FLAG_USER | FAULT_FLAG_REMOTE | FAULT_FLAG_WRITE | FAULT_FLAG_TRIED | \
	 FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_KILLABLE | FAULT_FLAG_RETRY_NOWAIT)

struct pfstat_clock {
	/*
	 * More cycles than nearly all calls take, and another number after each update. 0: time
	 * is not made of the counter, or the line changes just now.
	 */
	u64 limit;
	u64 mult;
	u64 offset_low;
	u64 offset_high;
	seqcount_t sequence; /* for readers able to wait for a change of the line */
	u32 gate;
};

extern struct pfstat_clock pfstat_clock;

/* Start and stop following the timekeeper. Otherwise the time comes from the kernel's clock. */
void pfstat_clock_start(void);
void pfstat_clock_stop(void);

/* A moment, and the values that make the time since then cheap to compute. */
struct moment {
	u64 ns;
	u64 cycles;
	u64 limit; /* the clock's at this moment, or 0 if cycles is meaningless */
};

/*
 * The counter where a call begins. Not ordered: it may slip to where it is earlier, but not
 * behind a later look at it, which waits for this one.
 */
static __always_inline u64 pfstat_clock_start_cycles(void)
{
	return pfstat_counter_read();
}

static __always_inline u64 pfstat_clock_end_cycles(void)
{
	return pfstat_counter_read_end();
}

struct clock_span {
	u64 start_ns;
	u64 duration_ns;
};

#ifdef CONFIG_X86_64
/* Not in C: the compiler aligns the stack where there is a number of 128 bits. */
static __always_inline u64 clock_line(u64 cycles)
{
	u64 high;

	asm("mulq %[mult]\n\t"
	    "addq %[offset_low], %[low]\n\t"
	    "adcq %[offset_high], %[high]\n\t"
	    "shrdq %[shift], %[high], %[low]"
	    : [low] "+a"(cycles), [high] "=&d"(high)
	    : [mult] "m"(pfstat_clock.mult), [offset_low] "m"(pfstat_clock.offset_low),
	      [offset_high] "m"(pfstat_clock.offset_high), [shift] "i"(CLOCK_SHIFT)
	    : "cc");
	return cycles;
}

static __always_inline u64 clock_length(u64 cycles)
{
	u64 high;

	asm("mulq %[mult]\n\t"
	    "shrdq %[shift], %[high], %[low]"
	    : [low] "+a"(cycles), [high] "=&d"(high)
	    : [mult] "m"(pfstat_clock.mult), [shift] "i"(CLOCK_SHIFT)
	    : "cc");
	return cycles;
}
#else
static __always_inline u64 clock_line(u64 cycles)
{
	const __uint128_t offset = (__uint128_t)pfstat_clock.offset_high << 64 |
				   pfstat_clock.offset_low;

	return (u64)(((__uint128_t)cycles * pfstat_clock.mult + offset) >> CLOCK_SHIFT);
}

static __always_inline u64 clock_length(u64 cycles)
{
	return (u64)(((__uint128_t)cycles * pfstat_clock.mult) >> CLOCK_SHIFT);
}
#endif

static __always_inline struct moment pfstat_clock_now(void)
{
	struct moment now;

	now.limit = READ_ONCE(pfstat_clock.limit);
	/* The limit before the line. Pairs with clock_open(). */
	smp_rmb();
	now.cycles = pfstat_counter_read_ordered();
	now.ns = clock_line(now.cycles);
	/* The line before the limit. Pairs with clock_shut(). */
	smp_rmb();
	if (unlikely(!now.limit || READ_ONCE(pfstat_clock.limit) != now.limit)) {
		now.ns = ktime_get_mono_fast_ns();
		now.limit = 0;
	}
	return now;
}

/* Time is not made of the counter: the fast path must read the kernel's clock. */
static inline bool pfstat_clock_is_shut(void)
{
	return !READ_ONCE(pfstat_clock.gate);
}

/* Reads the clock again, because it has been updated since, or is not made of the counter. */
u64 pfstat_clock_difference(u64 since_ns);

/* Nanoseconds since then: like the difference between two times, except for the last digit. */
static __always_inline u64 pfstat_clock_since(const struct moment *then)
{
	u64 cycles = pfstat_counter_read_ordered() - then->cycles;
	u64 ns = clock_length(cycles);

	/* The line before the limit. Pairs with clock_shut(). */
	smp_rmb();
	if (unlikely(cycles >= then->limit || READ_ONCE(pfstat_clock.limit) != then->limit))
		ns = pfstat_clock_difference(then->ns);
	return ns;
}

/*
 * Converts `length` cycles starting at a count taken while the gate was open. The conversion uses
 * the line at the end, even if the start was on another line: if NTP made the clock faster or
 * slower in between, start and duration are wrong by that share of the duration. The timekeeper
 * itself wavers by less than 1 in a million (1 ns in a millisecond). If an NTP daemon sets another
 * frequency it may be 500 (0.5 us in a millisecond), for the calls in flight at the time. False:
 * the conversion must be done out of line.
 */
static __always_inline bool pfstat_clock_span(u64 start, u64 length, struct clock_span *span)
{
	u64 limit = READ_ONCE(pfstat_clock.limit);

	/* The limit before the line. Pairs with clock_open(). */
	smp_rmb();
	span->start_ns = clock_line(start);
	span->duration_ns = clock_length(length);
	/* The line before the limit. Pairs with clock_shut(). */
	smp_rmb();
	/* A counter going back makes a very long one. */
	return likely(length < limit) && likely(pfstat_clock.limit == limit);
}

/* Always converts. If time no longer comes from the counter, uses the last line. */
struct clock_span pfstat_clock_span_slow(u64 start, u64 length);

#endif
