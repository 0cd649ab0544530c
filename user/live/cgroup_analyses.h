/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One analysis for each cgroup. An item goes to the analysis for the cgroup where the process was
 * last seen: when it was first seen, at each exec, and at each update. A child starts in the
 * parent's cgroup. Reads neither files nor clocks: the caller supplies the look-up.
 */
#ifndef PFSTAT_USER_CGROUP_ANALYSES_H
#define PFSTAT_USER_CGROUP_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/analysis.h"
#include "util/hash.h"

/* Returns the name of a process's cgroup, which is freed later. NULL: the process is gone. */
typedef char *(*cgroup_lookup)(pid_t pid);

/* More cgroups share one that is named "(others)", unless an older one has no process any more. */
#define CGROUP_ANALYSES_MAX 128 /* with analysis_new_small() */
#define CGROUP_OTHERS	    "(others)"
#define CGROUP_UNKNOWN	    "(unknown)" /* from processes ending before they were looked up */

struct cgroup_analysis {
	char *name;
	struct analysis *analysis;
	size_t processes;
	uint64_t left; /* the update at which the last process was gone, 0 if it has some */
};

struct cgroup_analyses {
	bool have_bpf;
	uint64_t page_bytes;
	unsigned int groups;
	cgroup_lookup lookup;
	struct hash processes; /* struct cgroup_process by pid */
	struct cgroup_analysis list[CGROUP_ANALYSES_MAX];
	size_t nr;
	uint64_t updates;
	int update_err; /* in the current update */
};

/* @have_bpf, @page_bytes, @groups: see analysis_new() */
void cgroup_analyses_init(struct cgroup_analyses *cgroups, bool have_bpf, uint64_t page_bytes,
			  unsigned int groups, cgroup_lookup lookup);
void cgroup_analyses_exit(struct cgroup_analyses *cgroups);
/* An item_sink. */
int cgroup_analyses_add(void *cgroups, const struct item *item);
/* Looks up all processes again, and forgets those that are gone. 0 or -ENOMEM. */
int cgroup_analyses_update(struct cgroup_analyses *cgroups);

#endif
