/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes and their threads, as /proc shows them. */
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

/* Reads a running process's thread names from /proc/PID/task/TID/comm. */

#define THREAD_NAME_SIZE 16 /* with the NUL, as in the kernel */

/* Called for each thread. A nonzero result stops the walk and is returned. */
typedef int (*thread_name_visitor)(void *context, pid_t tid, const char name[THREAD_NAME_SIZE]);

/* False: the thread has exited, or its name may not be read. */
bool thread_name_read(pid_t pid, pid_t tid, char name[THREAD_NAME_SIZE]);

/*
 * Threads and processes that exit meanwhile, or whose names may not be read, are skipped. Returns
 * 0, a visitor's result, or -EMFILE, -ENFILE or -ENOMEM.
 */
int thread_names_visit(pid_t pid, thread_name_visitor visit, void *context);

/*
 * Performs an action once for each thread in a running process. The threads that a visited thread
 * creates later must inherit the action.
 */

struct tids_action {
	/* Returns 0, -ESRCH if the thread is gone, or another negative errno. */
	int (*begin)(void *context, pid_t tid);
	/* Undoes every begin() in this proc_threads_each() call. */
	void (*undo)(void *context);
};

/*
 * A thread that appears meanwhile may or may not have been created by an already visited thread.
 * Then everything is undone and started again. Returns -EAGAIN if this happened at every attempt
 * (the last attempt is not undone), -ESRCH if the process does not exist, or the error from
 * begin().
 */
int proc_threads_each(pid_t pid, const struct tids_action *action, void *context);

#endif
