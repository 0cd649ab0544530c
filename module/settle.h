/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What remains after a session: hooked VMAs whose locks were not free, and calls inside a wrapper.
 * Both can take as long as a file system hangs. Until they are over, the module holds a reference
 * to itself, so rmmod is refused instead of waiting in the kernel.
 */
#ifndef PFSTAT_SETTLE_H
#define PFSTAT_SETTLE_H

#include <linux/types.h>

/* A session begins: before the first target is added. The caller has a file of this module open. */
void pfstat_settle_hold(void);
/* The session is over and the targets are retired: unhook them in the background. */
void pfstat_settle_stop(void);
/* A target was forgotten while the session goes on: unhook it in the background. */
void pfstat_settle_soon(void);
/* The number of stops so far. The caller holds the lock under which sessions stop. */
unsigned int pfstat_settle_stops(void);

/* Waits until no call is inside a wrapper. False: some take too long, or current was killed. */
bool pfstat_settle_drain(void);
/* After a stop, without that lock: waits up to a second, so rmmod works if nothing hangs. */
void pfstat_settle_wait(void);
void pfstat_settle_exit(void);

#endif
