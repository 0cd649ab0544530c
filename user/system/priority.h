/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that read the rings need a higher priority than the threads that they watch.
 * Otherwise four threads that only fault leave them a fifth of a CPU, and the rings
 * overflow. A new thread inherits the nice value of its creator and keeps it when
 * privileges are dropped. So the creator raises its own value only while it creates a
 * thread, and no privilege has to be kept.
 */
#ifndef PFSTAT_USER_PRIORITY_H
#define PFSTAT_USER_PRIORITY_H

#include <stdbool.h>

struct priority {
	bool raised;
	int before; /* nice value of the calling thread */
};

/*
 * Raises the priority of the calling thread; has no effect without CAP_SYS_NICE or a
 * suitable RLIMIT_NICE.
 */
void priority_raise(struct priority *priority);
/*
 * Asks for short time slices of the calling thread, so that it runs soon after it is woken. Needs
 * no privilege; has no effect before Linux 6.12.
 */
void priority_be_prompt(void);
/* Restores the nice value; call it on the same thread. */
void priority_restore(struct priority *priority);

#endif
