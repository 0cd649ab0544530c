/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A memory cgroup (v2) of its own for a run: made, entered, left, removed. A keeper,
 * a process outside of it, removes it with all that is still in it when this process
 * ends, whatever ends it.
 */
#ifndef PFSTAT_USER_MEMORY_CGROUP_H
#define PFSTAT_USER_MEMORY_CGROUP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct memory_group {
	char path[256];	     /* "": there is none */
	char home[PATH_MAX]; /* the folder of the cgroup that this process came from */
	pid_t keeper;
	int keeper_fd; /* it waits for the end of this */
};

#define MEMORY_GROUP_NONE ((struct memory_group){ .keeper_fd = -1 })

/*
 * Makes one with this limit, and enters it: this process, and who it starts; what it has
 * already stays charged where it was. 0, or a negative errno and one clause in why, with
 * what else can be done: `otherwise`.
 */
int memory_group_enter(struct memory_group *group, uint64_t limit, const char *otherwise, char *why,
		       size_t size);
/* Leaves it; its keeper kills who is still there and removes it. -errno: it is still there. */
int memory_group_leave(struct memory_group *group);
/* A file of it; NULL: it cannot be read. */
FILE *memory_group_open(const struct memory_group *group, const char *name);

/* The lowest limit of the groups that this process is in; UINT64_MAX: there is none. */
uint64_t memory_group_limit(void);

/* Kills all in it, and removes it. */
int memory_group_remove(const char *path);
/*
 * What the keeper does: waits until its standard input is closed, and removes the cgroup then.
 * -EINVAL: the path is none of pfdrive's cgroups.
 */
int memory_group_keep(const char *path);

#endif
