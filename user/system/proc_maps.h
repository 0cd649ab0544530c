/* SPDX-License-Identifier: GPL-2.0-only */
/* Stores the mappings of processes and their advice, from /proc/PID/smaps, until they are used. */
#ifndef PFSTAT_USER_PROC_MAPS_H
#define PFSTAT_USER_PROC_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "model/item.h"

/* All zero is an empty list. */
struct procmaps {
	char *bytes; /* struct item_map and its path, one after the other */
	size_t used, room;
	size_t last; /* offset of the mapping that was added last */
};

/* Appends the mappings of a process. Returns -ESRCH if it is gone, or -ENOMEM. */
int procmaps_read(struct procmaps *maps, pid_t pid);
/* Appends a line of /proc/PID/maps, with or without its newline. -EINVAL: not a mapping. */
int procmaps_add_line(struct procmaps *maps, pid_t pid, const char *line);
/* The advice in a VmFlags line: enum mapping_advice. */
uint32_t procmaps_advice(const char *line);
/* Applies a VmFlags line to the mapping that was added last; ignores other lines. */
void procmaps_add_flags(struct procmaps *maps, const char *line);
/* Moves all of @more to the end of @maps. On -ENOMEM, @more keeps them. */
int procmaps_append(struct procmaps *maps, struct procmaps *more);
/* Passes each mapping to @sink, in the order in which they were read, and empties the list. */
int procmaps_hand_over(struct procmaps *maps,
		       int (*sink)(void *context, const struct item_map *map), void *context);
void procmaps_exit(struct procmaps *maps);

#endif
