// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/resource.h>

#include "system/priority.h"

/* The highest of ordinary threads: those of real time, and the kernel's, still come first. */
#define NICE_HIGHEST (-20)

/* Of a thread: on Linux a nice value is not the process's. */
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

/* To a higher value may everybody. */
void priority_restore(struct priority *priority)
{
	if (priority->raised)
		setpriority(PRIO_PROCESS, 0, priority->before);
	priority->raised = false;
}
