/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups v2: a private memory cgroup for a run, and the counters of a cgroup and its parents. */
#ifndef PFSTAT_USER_CGROUPS_H
#define PFSTAT_USER_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "model/counters.h"
#include "util/why.h"

/*
 * A private memory cgroup (v2) for a run: create, enter, leave, remove. The keeper is a process
 * outside the cgroup. It kills the remaining members and removes the cgroup when this process exits
 * for any reason.
 */

struct memory_cgroup {
	char path[256];	     /* "": none */
	char home[PATH_MAX]; /* folder of this process's original cgroup */
	pid_t keeper;
	int keeper_fd;	      /* the keeper waits until this end of the pipe is closed */
	bool huge_pages_were; /* enabled for this process before */
};

#define MEMORY_GROUP_NONE ((struct memory_cgroup){ .keeper_fd = -1 })

/*
 * Creates a cgroup with this limit and moves this process into it. Children inherit it. Memory
 * already charged stays charged to the old cgroup. Transparent huge pages are off in the group:
 * khugepaged would charge it for this process's older memory. Returns 0, or a negative errno and a
 * clause in @why, ending with the alternative, @otherwise.
 */
int memory_cgroup_enter(struct memory_cgroup *group, uint64_t limit, const char *otherwise,
			struct why *why);
/* Leaves the group. The keeper kills other members and removes it. -errno: it still exists. */
int memory_cgroup_leave(struct memory_cgroup *group);
/* Opens a file in the cgroup, or returns NULL if it cannot be read. */
FILE *memory_cgroup_open(const struct memory_cgroup *group, const char *name);

/* Lowest limit for this process's cgroup and the ancestors, UINT64_MAX if there is none. */
uint64_t memory_cgroup_limit(void);

/*
 * Returns the most memory that the cgroup of this folder, or else the nearest parent that has a
 * limit, has used since it exists. UINT64_MAX: there is no limit, or Linux before 5.19. Fills the
 * limit.
 */
uint64_t memory_cgroup_peak(const char *folder, uint64_t *limit);

/*
 * The keeper's main function: waits for end of file on standard input, then removes the cgroup.
 * Returns -EINVAL if the path is not a cgroup made by pfdrive.
 */
int memory_cgroup_keep(const char *path);

/* Reads the counters of a cgroup v2 and its parents from the files in their folders. */

/*
 * Reads the folder and its parents, without the root. The root has no limits, and its pressure is
 * the machine's. Sets levels->path to "" if the folder is not a cgroup below the root.
 */
void cgroup_levels_read(struct cgroup_levels *levels, const char *folder);
/* Fills in the process's cgroup folder, CGROUP_PATH bytes. Returns 0 or a negative errno. */
int cgroup_levels_folder(char *folder, pid_t pid);

#endif
