// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel grants this process: descriptors, CPU time, system calls and a PID namespace. */
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/own_process.h"

/*
 * Raises the soft limit of RLIMIT_NOFILE to the hard limit, and restores it for children.
 * The original limit is kept in a static variable, so these functions are not thread-safe.
 */

#define KEPT_FREE 64

static struct rlimit before;
static bool raised;

void fd_limit_raise(void)
{
	struct rlimit limit;

	if (raised || getrlimit(RLIMIT_NOFILE, &before))
		return;
	limit = before;
	limit.rlim_cur = limit.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void fd_limit_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
	raised = false;
}

/* The kernel returns the lowest free number, so @fd shows how many are in use. */
bool fd_limit_is_near(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + KEPT_FREE >= limit.rlim_cur;
}

/*
 * Sets the nice value of the calling thread, and restores it. On Linux a nice value belongs
 * to a thread, not to the process.
 */

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

/* Compares the inode of /proc/self/ns/pid with the initial PID namespace's constant. */

/* PROC_PID_INIT_INO: the initial PID namespace's inode. */
#define INITIAL_PID_NAMESPACE 0xeffffffcU

bool pid_namespace_is_initial(void)
{
	struct stat stat_buffer;

	return !stat("/proc/self/ns/pid", &stat_buffer) &&
	       stat_buffer.st_ino == INITIAL_PID_NAMESPACE;
}

/*
 * /proc/self/status has the mode. prctl(PR_GET_SECCOMP) has it too, but a filter may kill the
 * caller.
 */

bool syscall_filter_is_set(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned int mode = SECCOMP_MODE_DISABLED;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %u", &mode) == 1)
			break;
	fclose(file);
	return mode == SECCOMP_MODE_FILTER;
}

int syscall_filter_try_bpf(void)
{
	union bpf_attr attr = { 0 };

	if (syscall(SYS_bpf, INT_MAX, &attr, sizeof(attr)) >= 0)
		return 0;
	return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}
