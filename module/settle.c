// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unhooks the targets of ended sessions as their locks become free, and keeps the module until
 * then, see settle.h. session.c reports when a session starts and ends. settle_lock protects the
 * state.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "hook.h"
#include "in_flight.h"
#include "mm_counts.h"
#include "settle.h"
#include "target.h"

/* How long stop waits for faults that are inside their handler, in I/O mostly. */
#define SETTLE_DRAIN_MS 5000
/* After that, how long stop waits for the targets to be unhooked, and how often it retries. */
#define SETTLE_WAIT_MS	1000
#define SETTLE_RETRY_MS 100

static DEFINE_SPINLOCK(settle_lock);
static bool settle_pinned; /* the module holds a reference to itself */
static bool settle_active; /* between pfstat_settle_hold() and pfstat_settle_stop() */
static unsigned int settle_nr_stops;
static DECLARE_WAIT_QUEUE_HEAD(settle_done);

bool pfstat_settle_drain(void)
{
	const unsigned long end = jiffies + msecs_to_jiffies(SETTLE_DRAIN_MS);

	while (pfstat_in_flight_sum()) {
		if (time_after(jiffies, end) || fatal_signal_pending(current))
			return false;
		usleep_range(1000, 2000);
	}
	return true;
}

void pfstat_settle_hold(void)
{
	spin_lock(&settle_lock);
	/* The caller has a module file open, so the module cannot go. */
	if (!settle_pinned)
		__module_get(THIS_MODULE);
	settle_pinned = true;
	settle_active = true;
	spin_unlock(&settle_lock);
}

/* stops: settle_nr_stops, read before the caller found nothing hooked or inside. */
static void settle_unpin(unsigned int stops)
{
	bool put;

	spin_lock(&settle_lock);
	put = settle_pinned && !settle_active && settle_nr_stops == stops;
	if (put)
		settle_pinned = false;
	spin_unlock(&settle_lock);
	if (!put)
		return;
	wake_up_all(&settle_done);
	module_put(THIS_MODULE); /* pfstat_settle_exit() waits for this work item */
}

static void settle_try(struct work_struct *work);
static DECLARE_DELAYED_WORK(settle_work, settle_try);

/* Unhooks ended sessions' targets whose locks are free, until none is left. */
static void settle_try(struct work_struct *work)
{
	const unsigned int stops = READ_ONCE(settle_nr_stops);

	if (pfstat_hook_undo() && !pfstat_in_flight_sum() && !pfstat_mm_counts_in_flight())
		settle_unpin(stops);
	if (pfstat_target_retired() || (READ_ONCE(settle_pinned) && !READ_ONCE(settle_active)))
		schedule_delayed_work(&settle_work, msecs_to_jiffies(SETTLE_RETRY_MS));
}

void pfstat_settle_soon(void)
{
	schedule_delayed_work(&settle_work, 0);
}

void pfstat_settle_stop(void)
{
	spin_lock(&settle_lock);
	settle_active = false;
	settle_nr_stops++;
	spin_unlock(&settle_lock);
	pfstat_settle_soon();
}

unsigned int pfstat_settle_stops(void)
{
	return READ_ONCE(settle_nr_stops);
}

static bool settle_is_done(void)
{
	return !READ_ONCE(settle_pinned) || READ_ONCE(settle_active);
}

void pfstat_settle_wait(void)
{
	wait_event_killable_timeout(settle_done, settle_is_done(),
				    msecs_to_jiffies(SETTLE_WAIT_MS));
}

void pfstat_settle_exit(void)
{
	cancel_delayed_work_sync(&settle_work);
}
