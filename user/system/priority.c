// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets the nice value of the calling thread, and restores it. On Linux a nice value belongs
 * to a thread, not to the process.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/priority.h"

/*
 * The highest priority for normal threads. Real-time threads and some kernel threads still come
 * first.
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

/* The shortest slice granted by the kernel. */
#define PROMPT_SLICE_NS 100000

void priority_be_prompt(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = { .size = sizeof(attributes) };

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0))
		return;
	attributes.runtime = PROMPT_SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* Increasing a nice value needs no privilege. */
void priority_restore(struct priority *priority)
{
	if (priority->raised)
		setpriority(PRIO_PROCESS, 0, priority->before);
	priority->raised = false;
}
