/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page state met by a ->fault call, for calls that returned RETRY: the VMA may be gone then, so
 * the page can no longer be looked up.
 */
#ifndef PFSTAT_RETRY_H
#define PFSTAT_RETRY_H

#include <linux/types.h>
#include <pfstat/record.h>

struct mm_struct;

/*
 * Start and exit sleep. Calls are recorded only between start and stop. A second after a stop the
 * probes are disabled, because the probed functions are called for every process. The probes stay
 * registered until the module is unloaded: removing them would wait for grace periods. Start:
 * -ENOMEM, or -ENODEV if the kernel does not allow the probes, or does not call them now. It must
 * then be stopped too. A thread has notes if it has a slot. One without a slot gets it with its
 * first note, if is_target() says so for its memory. The table of slots must be there, and stay
 * until a grace period after the stop.
 */
int pfstat_retry_start(bool (*is_target)(struct mm_struct *mm));
void pfstat_retry_stop(void);
void pfstat_retry_exit(void);

/* When a call began: the CPU's counter, or ktime_get_mono_fast_ns(). */
struct retry_start {
	u64 time;
	bool in_ns;
};

/* The state of a page whose folio has these flags. */
enum pfstat_before pfstat_retry_state(unsigned long flags);
/*
 * What current's call met that started then and returned RETRY without MAJOR. The call must be the
 * first attempt at a program's own fault. UNKNOWN: the call has no note.
 */
enum pfstat_before pfstat_retry_before(struct retry_start since);
/* The calls for which it was unknown, since the last reset. */
u64 pfstat_retry_unknown(void);
void pfstat_retry_reset(void);

#endif
