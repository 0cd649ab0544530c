/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The privileges required by the module's files. Modes do not suffice: the root of a user
 * namespace, and of an unprivileged container, is also user 0. The files show the same about other
 * processes as perf_event_open(2), so they require the same capability.
 */
#ifndef PFSTAT_ACCESS_H
#define PFSTAT_ACCESS_H

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

/* Checks the process that opens a file. Later users of the open file are not checked. */
static inline int pfstat_access_may_open(void)
{
	return perfmon_capable() ? 0 : -EPERM;
}

/* The kernel shows page frame numbers (/proc/PID/pagemap) to openers with CAP_SYS_ADMIN only. */
static inline bool pfstat_access_may_see_frames(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/*
 * A program that may load eBPF reads any kernel memory, so it may also have addresses. Lockdown for
 * confidentiality denies it both.
 */
static inline bool pfstat_access_may_see_addresses(const struct file *file)
{
	return (file_ns_capable(file, &init_user_ns, CAP_BPF) ||
		file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN)) &&
	       !security_locked_down(LOCKDOWN_BPF_READ_KERNEL);
}

#endif
