// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows the timekeeper: on each update, copies the timekeeper's conversion from the counter to
 * nanoseconds into pfstat_clock, which the wrappers read. See clock.h.
 */
#include <linux/clocksource.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

#include "clock.h"

/*
 * Cycles, more than nearly all calls take. The update number is added, cut to fewer bits. Together
 * they are less than the time a stop waits for calls (5 s), at the slowest counter's pace. A longer
 * call leaves the fast path when it ends, so it is compared with the start of the recording.
 */
#ifdef CONFIG_X86_64
#define CLOCK_LIMIT   BIT_ULL(30)
#define CLOCK_UPDATES (BIT(24) - 1)
#else
#define CLOCK_LIMIT   BIT_ULL(21)
#define CLOCK_UPDATES (BIT(20) - 1)
#endif
static_assert(CLOCK_LIMIT + CLOCK_UPDATES < 5ULL * COUNTER_MIN_MHZ * 1000 * 1000);

struct pfstat_clock pfstat_clock __cacheline_aligned = {
	.sequence = SEQCNT_ZERO(pfstat_clock.sequence),
};

/* The time comes from this counter, which is fast enough: the slope fits in 64 bits. */
static bool is_usable(const struct tk_read_base *from)
{
	return pfstat_counter_is_clock(from->clock) && from->shift <= CLOCK_SHIFT &&
	       from->mult >> from->shift < 1U << (64 - CLOCK_SHIFT);
}

/* From now on readers use the kernel's clock. One writer at a time, interrupts off. */
static void clock_shut(void)
{
	raw_write_seqcount_begin(&pfstat_clock.sequence);
	WRITE_ONCE(pfstat_clock.limit, 0);
	/* A reader of the old limit sees it change after it has read the line. */
	smp_wmb();
}

static void clock_open(bool usable)
{
	const u32 gate = usable ? PFSTAT_CLOCK_GATE : 0;
	u64 limit = 0;

	raw_write_seqcount_end(&pfstat_clock.sequence);
	if (usable)
		limit = CLOCK_LIMIT + (raw_read_seqcount(&pfstat_clock.sequence) & CLOCK_UPDATES);
	/* The line comes before the limit. */
	smp_wmb();
	WRITE_ONCE(pfstat_clock.limit, limit);
	WRITE_ONCE(pfstat_clock.gate, gate);
}

/* Computes like timekeeping_get_ns(), multiplied by the rest of CLOCK_SHIFT. */
static void set_line(const struct tk_read_base *from)
{
	const unsigned int rest = CLOCK_SHIFT - from->shift;
	const u64 mult = (u64)from->mult << rest;
	const __uint128_t offset = ((__uint128_t)ktime_to_ns(from->base) << CLOCK_SHIFT) +
				   ((__uint128_t)from->xtime_nsec << rest) -
				   (__uint128_t)from->cycle_last * mult;

	pfstat_clock.mult = mult;
	pfstat_clock.offset_low = (u64)offset;
	pfstat_clock.offset_high = (u64)(offset >> 64);
}

/* Called by the timekeeper, with the timekeeper lock held. */
static int clock_update(struct notifier_block *block, unsigned long stepped, void *data)
{
	const struct timekeeper *timekeeper = data;
	const struct tk_read_base *from = &timekeeper->tkr_mono;
	const bool usable = is_usable(from);

	clock_shut();
	if (usable)
		set_line(from);
	clock_open(usable);
	return NOTIFY_OK;
}

static struct notifier_block clock_notifier = { .notifier_call = clock_update };

void pfstat_clock_start(void)
{
	/* It is called once at once. */
	pvclock_gtod_register_notifier(&clock_notifier);
}

void pfstat_clock_stop(void)
{
	unsigned long flags;

	pvclock_gtod_unregister_notifier(&clock_notifier);
	local_irq_save(flags);
	clock_shut();
	clock_open(false);
	local_irq_restore(flags);
}

u64 pfstat_clock_difference(u64 since_ns)
{
	u64 now_ns = pfstat_clock_now().ns;

	/* Two CPUs' counters may differ by a little. */
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

struct clock_span pfstat_clock_span_slow(u64 start, u64 length)
{
	unsigned int sequence;
	struct clock_span span;

	do {
		sequence = raw_read_seqcount_begin(&pfstat_clock.sequence);
		span.start_ns = clock_line(start);
		span.duration_ns = (s64)length > 0 ? clock_length(length) : 0;
	} while (read_seqcount_retry(&pfstat_clock.sequence, sequence));
	return span;
}
