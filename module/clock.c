// SPDX-License-Identifier: GPL-2.0-only
/* The copy of how the timekeeper makes nanoseconds; see clock.h. */
#include <linux/clocksource.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

#include "clock.h"

struct pfstat_clock pfstat_clock __cacheline_aligned = {
	.sequence = SEQCNT_ZERO(pfstat_clock.sequence),
};

/* One writer at a time: the timekeeper calls it under its lock, interrupts off. */
static int clock_update(struct notifier_block *block, unsigned long stepped, void *data)
{
	const struct timekeeper *timekeeper = data;
	const struct tk_read_base *from = &timekeeper->tkr_mono;

	raw_write_seqcount_begin(&pfstat_clock.sequence);
	pfstat_clock.mult = from->mult;
	pfstat_clock.shift = from->shift;
	pfstat_clock.cycle_last = from->cycle_last;
	pfstat_clock.xtime_nsec = from->xtime_nsec;
	pfstat_clock.base_ns = ktime_to_ns(from->base);
	pfstat_clock.max_cycles = from->clock->vdso_clock_mode == VDSO_CLOCKMODE_TSC ?
				  from->clock->max_cycles : 0;
	raw_write_seqcount_end(&pfstat_clock.sequence);
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
	raw_write_seqcount_begin(&pfstat_clock.sequence);
	pfstat_clock.max_cycles = 0;
	raw_write_seqcount_end(&pfstat_clock.sequence);
	local_irq_restore(flags);
}

u64 pfstat_clock_difference(u64 since_ns)
{
	u64 now_ns = pfstat_clock_now().ns;

	/* Two CPUs' counters may differ by a little. */
	return now_ns > since_ns ? now_ns - since_ns : 0;
}
