/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLOCK_MONOTONIC for the hot path: what ktime_get_mono_fast_ns() would say, at a
 * third of its instructions. The timekeeper tells at each of its updates how it makes
 * nanoseconds of the CPU's counter; a copy of that is kept here, and read in line.
 */
#ifndef PFSTAT_CLOCK_H
#define PFSTAT_CLOCK_H

#include <linux/seqlock.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/tsc.h>

struct pfstat_clock {
	seqcount_t sequence;
	u32 mult;
	u32 shift;
	u64 cycle_last;
	u64 max_cycles;		/* 0: time is not made of this counter now */
	u64 xtime_nsec;
	u64 base_ns;
};

extern struct pfstat_clock pfstat_clock;

/* Begin and end to follow the timekeeper. Otherwise the time is asked of the kernel. */
void pfstat_clock_start(void);
void pfstat_clock_stop(void);

/* A moment, and what tells cheaply how long ago it was. */
struct moment {
	u64 ns;
	u64 cycles;		/* the counter; while sequence is the clock's own */
	unsigned int sequence;	/* odd, which the clock's never is for long: cycles is nothing */
};

static __always_inline struct moment pfstat_clock_now(void)
{
	const struct pfstat_clock *clock = &pfstat_clock;
	struct moment now;
	u64 delta;

	do {
		now.sequence = raw_seqcount_begin(&clock->sequence);
		now.cycles = rdtsc_ordered();
		delta = now.cycles - clock->cycle_last;
		/* Also a counter a little behind that of the CPU which made the update. */
		if (unlikely(delta >= clock->max_cycles)) {
			now.ns = ktime_get_mono_fast_ns();
			now.sequence = 1;
			return now;
		}
		now.ns = clock->base_ns +
			 ((delta * clock->mult + clock->xtime_nsec) >> clock->shift);
	} while (unlikely(read_seqcount_retry(&clock->sequence, now.sequence)));
	return now;
}

/* By the clock itself, which has been updated since, or is not made of the counter. */
u64 pfstat_clock_difference(u64 since_ns);

/* Nanoseconds since then: as the difference of two times, but for the last digit. */
static __always_inline u64 pfstat_clock_since(const struct moment *then)
{
	const struct pfstat_clock *clock = &pfstat_clock;
	u64 cycles = rdtsc_ordered(), ns;

	ns = ((cycles - then->cycles) * clock->mult) >> clock->shift;
	if (unlikely(read_seqcount_retry(&clock->sequence, then->sequence) ||
		     cycles < then->cycles))
		ns = pfstat_clock_difference(then->ns);
	return ns;
}

#endif
