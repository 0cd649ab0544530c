// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets the nice value of the calling thread, and restores it. On Linux a nice value belongs
 * to a thread, not to the process.
 */
#include <errno.h>
#include <sys/resource.h>

#include "system/priority.h"

/*
 * The highest priority of normal threads; real-time threads and some kernel threads still
 * come first.
 */
#define NICE_HIGHEST (-20)

/* PRIO_PROCESS with 0 means the calling thread only. */
void priority_raise(struct priority *priority)
{
	if (priority->raised)
		return;
	errno = 0;
	priority->before = getpriority(PRIO_PROCESS, 0);
	if (priority->before == -1 && errno)
		return;
	priority->raised = priority->before > NICE_HIGHEST &&
			   !setpriority(PRIO_PROCESS, 0, NICE_HIGHEST);
}

/* Increasing a nice value needs no privilege. */
void priority_restore(struct priority *priority)
{
	if (priority->raised)
		setpriority(PRIO_PROCESS, 0, priority->before);
	priority->raised = false;
}
