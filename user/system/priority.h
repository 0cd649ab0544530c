/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads reading the rings need a higher priority than the watched threads. Otherwise four
 * threads that only fault leave them a fifth of a CPU, and the rings overflow. A new thread
 * inherits its creator's nice value and keeps it when privileges are dropped. So the creator raises
 * its own value only while creating a thread, and no privilege has to be kept.
 */
#ifndef PFSTAT_USER_PRIORITY_H
#define PFSTAT_USER_PRIORITY_H

#include <stdbool.h>

struct priority {
	bool raised;
	int before; /* the calling thread's nice value */
};

/*
 * Raises the calling thread's priority. Has no effect without CAP_SYS_NICE or a suitable
 * RLIMIT_NICE.
 */
void priority_raise(struct priority *priority);
/*
 * Asks for short time slices for the calling thread, so it runs soon after being woken. Needs no
 * privilege. Has no effect before Linux 6.12.
 */
void priority_be_prompt(void);
/* Restores the nice value. Call it on the same thread. */
void priority_restore(struct priority *priority);

#endif
