/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the counters of a cgroup v2 and its parents from the files in their folders. */
#ifndef PFSTAT_USER_CGROUP_LEVELS_H
#define PFSTAT_USER_CGROUP_LEVELS_H

#include <sys/types.h>

#include "model/cgroup_limits.h"

/*
 * Reads the folder and its parents up to the last one below the root, which has no limits, and whose
 * pressure is that of the machine. levels->path is "" if the folder is no such cgroup.
 */
void cgroup_levels_read(struct cgroup_levels *levels, const char *folder);
/* The folder of the cgroup of this process now, CGROUP_PATH bytes. Returns 0 or a negative errno. */
int cgroup_levels_folder(char *folder, pid_t pid);

#endif
