/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a cgroup's counters at the start and at the end of a recording. This is the watched cgroup,
 * or else the cgroup of the watched process.
 */
#ifndef PFSTAT_USER_CGROUP_WATCH_H
#define PFSTAT_USER_CGROUP_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/cgroup_limits.h"

struct cgroup_watch {
	struct cgroup_levels before;
	bool moved; /* the process left the cgroup */
};

/* @folder: the cgroup; NULL: the process's cgroup */
void cgroup_watch_start(struct cgroup_watch *watch, const char *folder, pid_t pid);
/* Notes a move of the process to another cgroup. The process must not have been reaped. */
void cgroup_watch_check(struct cgroup_watch *watch, pid_t pid);
/* Fills the differences since the start. Nothing is known if the process moved. */
void cgroup_watch_stop(const struct cgroup_watch *watch, struct cgroup_limits *limits);

#endif
