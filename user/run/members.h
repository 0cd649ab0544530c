/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that are watched from the start, or from the moment at which they join the cgroup.
 * Their children are watched too, but are not members: the module and eBPF follow them.
 */
#ifndef PFSTAT_USER_MEMBERS_H
#define PFSTAT_USER_MEMBERS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/measurement.h"
#include "system/processes.h"

struct member {
	pid_t pid;
	int pidfd;	   /* -1: it has ended */
	uint64_t since_ns; /* processes it creates later are watched; CLOCK_BOOTTIME */
	struct process_counts before;
	bool counted; /* `before` is known */
};

struct members {
	struct measurement *measurement;
	struct member *list;
	unsigned int nr;
	struct pollfd *polled;	  /* the members, and two for the caller behind them */
	bool held;		  /* they have no mappings to be read yet */
	bool started;		  /* an unwatchable process is not an error any more */
	bool warned;		  /* about such a process */
	unsigned int nr_unmapped; /* processes whose mappings could not be read */
	unsigned int nr_late;	  /* processes joining the cgroup, found up to a second later */
};

/* The first three return an exit status, after a message. */
int members_follow(struct members *members, pid_t pid);
int members_follow_cgroup(struct members *members, const char *path);
/* Follows the processes mapping the file open as fd. */
int members_follow_mappers(struct members *members, int fd, const char *path);
/* Follows those that have joined. The cgroup itself may go and come: a service restarts. */
void members_update_cgroup(struct members *members, const char *path);

/* Sets up `polled` for poll(2): nr + 2 descriptors. @other_fd: also ends the wait, or -1 */
void members_prepare_poll(struct members *members, int wake_fd, int other_fd);
/* Forgets the members that have ended. True: wake_fd was ready. */
bool members_polled(struct members *members);
bool members_any_alive(const struct members *members);
/* At the end: messages about processes that were found late, or whose mappings were not read. */
void members_report(const struct members *members);
void members_exit(struct members *members);

#endif
