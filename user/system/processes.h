/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc and the cgroup file system tell of processes. */
#ifndef PFSTAT_USER_PROCESSES_H
#define PFSTAT_USER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls visit for each process; ends when it does not return 0. */
typedef int (*process_visitor)(void *context, pid_t pid);

/* The members of a cgroup v2 folder, and of those below it. -ENOENT: it is not there. */
int processes_in_cgroup(const char *path, process_visitor visit, void *context);
/* Whoever maps the file that is open for reading as fd, but for the caller. */
int processes_that_map(int fd, process_visitor visit, void *context);

struct process_counts {
	uint64_t minflt, majflt; /* all its threads, without children */
	uint64_t utime_ns, stime_ns;
};

/* From /proc/PID/stat. -ESRCH: it is gone. */
int process_counts(pid_t pid, struct process_counts *counts);

/* The letter of its first thread's state, as in /proc/PID/stat; 0: it is gone. */
char process_state(pid_t pid);

struct process_birth {
	pid_t parent; /* now */
	uint64_t ns;  /* of CLOCK_BOOTTIME, up to a tick too early */
};

/* The same. */
int process_birth(pid_t pid, struct process_birth *birth);
/* Is it the first of its PID namespace, which is made the parent of orphans? */
bool process_is_first(pid_t pid);

#endif
