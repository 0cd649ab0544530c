/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page state met by a ->fault call, for calls that returned RETRY: the VMA may be gone then, so
 * the page can no longer be looked up.
 */
#ifndef PFSTAT_RETRY_H
#define PFSTAT_RETRY_H

#include <linux/types.h>

/*
 * Start and exit sleep. Calls are recorded only between start and stop. A second after a stop the
 * probes are disabled, because the probed functions are called for every process. The probes stay
 * registered until the module is unloaded: removing them would wait for grace periods. Start:
 * -ENOMEM, or -ENODEV if the kernel does not allow the probes, or does not call them now. It must
 * then be stopped too.
 */
int pfstat_retry_start(void);
void pfstat_retry_stop(void);
void pfstat_retry_exit(void);

/* When a call began: the CPU's counter, or ktime_get_mono_fast_ns(). */
struct retry_start {
	u64 time;
	bool in_ns;
};

/*
 * The folio flags met by current's call that started then and returned RETRY without MAJOR. The
 * call must be the first attempt at a program's own fault. False: the call has no note.
 */
bool pfstat_retry_folio_flags(struct retry_start since, unsigned long *flags);
/* The calls for which it was false, since the last reset. */
u64 pfstat_retry_unknown(void);
void pfstat_retry_reset(void);

#endif
