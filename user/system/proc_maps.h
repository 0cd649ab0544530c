/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of processes and their advice from /proc/PID/smaps, kept until they are used. */
#ifndef PFSTAT_USER_PROC_MAPS_H
#define PFSTAT_USER_PROC_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "model/item.h"

/* All zero is none. */
struct procmaps {
	char *bytes; /* struct item_map and its path, one after the other */
	size_t used, room;
	size_t last; /* where the mapping is that was added last */
};

/* Those of one process more. -ESRCH: it is gone; -ENOMEM. */
int procmaps_read(struct procmaps *maps, pid_t pid);
/* A line of /proc/PID/maps more; -EINVAL: it is none. The newline may be there. */
int procmaps_add_line(struct procmaps *maps, pid_t pid, const char *line);
/* The line VmFlags of the mapping that was added last; others change nothing. */
void procmaps_add_flags(struct procmaps *maps, const char *line);
/* Those of `more` behind what is there; then `more` has none. -ENOMEM: it keeps them. */
int procmaps_append(struct procmaps *maps, struct procmaps *more);
/* All, once each, in the order in which they were read; then there are none. */
int procmaps_hand_over(struct procmaps *maps,
		       int (*sink)(void *context, const struct item_map *map), void *context);
void procmaps_exit(struct procmaps *maps);

#endif
