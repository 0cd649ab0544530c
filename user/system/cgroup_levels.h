/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the counters of a cgroup v2 and its parents from the files in their folders. */
#ifndef PFSTAT_USER_CGROUP_LEVELS_H
#define PFSTAT_USER_CGROUP_LEVELS_H

#include <sys/types.h>

#include "model/cgroup_limits.h"

/*
 * Reads the folder and its parents, without the root. The root has no limits, and its pressure is
 * the machine's. Sets levels->path to "" if the folder is not a cgroup below the root.
 */
void cgroup_levels_read(struct cgroup_levels *levels, const char *folder);
/* Fills in the process's cgroup folder, CGROUP_PATH bytes. Returns 0 or a negative errno. */
int cgroup_levels_folder(char *folder, pid_t pid);

#endif
