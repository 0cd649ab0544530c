/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may use the module. Its files are root's, by mode; but the root of a user
 * namespace, and a container's without privileges, is user 0 as well. What they tell
 * is what perf_event_open(2) tells of others' processes, so it takes the same.
 */
#ifndef PFSTAT_RIGHT_H
#define PFSTAT_RIGHT_H

#include <linux/capability.h>
#include <linux/errno.h>

/* Of the process that opens a file; what is open stays so. */
static inline int pfstat_may_open(void)
{
	return perfmon_capable() ? 0 : -EPERM;
}

#endif
