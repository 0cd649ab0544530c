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

/*
 * The flags of the folio that current's call met, which began at since_ns and returned RETRY
 * without MAJOR. The call must be the first attempt of a program's own fault.
 */
unsigned long pfstat_retry_folio_flags(u64 since_ns);

#endif
