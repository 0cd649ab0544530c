/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at the limits of a cgroup at the start and at the end of a recording: of the watched
 * cgroup, or of the cgroup in which the watched process is.
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

/* @folder: the cgroup, or NULL: that of the process */
void cgroup_watch_start(struct cgroup_watch *watch, const char *folder, pid_t pid);
/* Notes whether the process is in another cgroup now. It may have exited, but not be reaped. */
void cgroup_watch_check(struct cgroup_watch *watch, pid_t pid);
/* Fills what came since the start. Nothing is known if the process moved. */
void cgroup_watch_stop(const struct cgroup_watch *watch, struct cgroup_limits *limits);

#endif
