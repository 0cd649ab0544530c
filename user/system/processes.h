/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads from /proc and the cgroup file system which processes exist, and their counters. */
#ifndef PFSTAT_USER_PROCESSES_H
#define PFSTAT_USER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Called for each process. A nonzero result stops the walk and is returned. */
typedef int (*process_visitor)(void *context, pid_t pid);

/* Visits the members of a cgroup v2 folder and all descendants. -ENOENT: no such folder. */
int processes_in_cgroup(const char *path, process_visitor visit, void *context);
/* Visits each process, except the caller, that maps the file @fd, which is open for reading. */
int processes_that_map(int fd, process_visitor visit, void *context);

/*
 * Returns the process's cgroup as in /proc/PID/cgroup, such as "/system.slice/a.service". The
 * caller frees it. NULL if the process is gone, or cgroup v2 is not mounted, see errno.
 */
char *process_cgroup(pid_t pid);

struct process_counts {
	uint64_t minflt, majflt; /* for all threads, without children */
	uint64_t utime_ns, stime_ns;
};

/* Reads /proc/PID/stat. Returns 0, or -ESRCH if the process is gone. */
int process_counts(pid_t pid, struct process_counts *counts);

/* The first thread's state letter, as in /proc/PID/stat, or 0 if the process is gone. */
char process_state(pid_t pid);

struct process_birth {
	pid_t parent; /* current parent */
	uint64_t ns;  /* CLOCK_BOOTTIME, rounded down to a clock tick */
};

/* Reads /proc/PID/stat. Returns 0, or -ESRCH if the process is gone. */
int process_birth(pid_t pid, struct process_birth *birth);
/* True for the init process of a PID namespace, which adopts orphans. */
bool process_is_first(pid_t pid);

#endif
