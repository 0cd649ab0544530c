/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel grants this process: descriptors, CPU time, system calls and a PID namespace. */
#ifndef PFSTAT_USER_OWN_PROCESS_H
#define PFSTAT_USER_OWN_PROCESS_H

#include <stdbool.h>

/*
 * Limit on open file descriptors. perf needs one descriptor for each event of each watched
 * thread and CPU, and the soft limit is 1024 on most machines.
 */

/* Raises the soft limit to the hard limit. Has no effect if this fails. */
void fd_limit_raise(void);
/* Restores the original limit, for exec'd children relying on it. */
void fd_limit_restore(void);
/*
 * True if the just opened @fd is among the last ones permitted by the limit. Callers opening an
 * unbounded number of descriptors stop here, because listing processes and writing the results need
 * some as well.
 */
bool fd_limit_is_near(int fd);

/*
 * The threads reading the rings need a higher priority than the watched threads. Otherwise four
 * threads that only fault leave them a fifth of a CPU, and the rings overflow. A new thread
 * inherits its creator's nice value and keeps it when privileges are dropped. So the creator raises
 * its own value only while creating a thread, and no privilege has to be kept.
 */

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

/*
 * True if this process is in the initial PID namespace, from which records and events have their
 * process ids.
 */
bool pid_namespace_is_initial(void);

/* Detects a system call filter (seccomp), which containers and services have. */

/* Has this process a filter? False if /proc cannot be read. */
bool syscall_filter_is_set(void);

/*
 * Calls bpf(2) with a command that no kernel has, so nothing happens. Returns 0 if the kernel
 * looked at the command, or -EPERM, -EACCES or -ENOSYS if the call was refused before. If
 * kernel.unprivileged_bpf_disabled is set, kernels before 5.19 answer -EPERM to each call by a user
 * without CAP_BPF. Later ones answer 0.
 */
int syscall_filter_try_bpf(void);

#endif
