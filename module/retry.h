/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the page that a call of ->fault met, for calls that returned RETRY: the VMA may
 * be gone then, so the page can no longer be looked up.
 */
#ifndef PFSTAT_RETRY_H
#define PFSTAT_RETRY_H

#include <linux/types.h>

/*
 * Both sleep. Calls are recorded only after the first start. The probes stay until the module is
 * unloaded, because removing them would make each session longer. -ENOMEM; -ENODEV if the kernel
 * does not allow the probes, or does not call them now.
 */
int pfstat_retry_start(void);
void pfstat_retry_exit(void);

/* When a call began: the CPU's counter, or ktime_get_mono_fast_ns(). */
struct retry_start {
	u64 time;
	bool in_ns;
};

/*
 * The flags of the folio that current's call met, which began then and returned RETRY without
 * MAJOR. The call must be the first attempt of a program's own fault. False: there is no note of
 * it.
 */
bool pfstat_retry_folio_flags(struct retry_start since, unsigned long *flags);
/* The calls for which it was false, since the last reset. */
u64 pfstat_retry_unknown(void);
void pfstat_retry_reset(void);

#endif
