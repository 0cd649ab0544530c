/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the mappings of a process from /proc/PID/maps and /proc/PID/smaps. */
#ifndef PFSTAT_USER_PROC_MAPS_H
#define PFSTAT_USER_PROC_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "model/item.h"
#include "system/map_list.h"

/* Stores process mappings, from /proc/PID/maps or smaps, until they are used. */

/* All zero is an empty list. */
struct proc_maps {
	char *bytes; /* struct item_map and its path, one after the other */
	size_t used, room;
	size_t last; /* offset of the last added mapping */
};

/* Appends a process's mappings. Returns -ESRCH if it is gone, or -ENOMEM. */
int proc_maps_read(struct proc_maps *maps, pid_t pid);
/*
 * The same with the advice. It reads smaps, for which the kernel walks the page tables. Meanwhile
 * mmap(2) waits in the process, 10 ms for each GiB.
 */
int proc_maps_read_advice(struct proc_maps *maps, pid_t pid);
/* Appends a line from /proc/PID/maps, with or without newline. -EINVAL: not a mapping. */
int proc_maps_add_line(struct proc_maps *maps, pid_t pid, const char *line);
/* Applies a VmFlags line to the last added mapping. Ignores other lines. */
void proc_maps_add_flags(struct proc_maps *maps, const char *line);
/*
 * Sets the advice for the mappings described by @states, by process and address. The others keep
 * ITEM_MAP_NO_ADVICE, with which file mappings start. Sorts @states.
 */
void proc_maps_set_advice(struct proc_maps *maps, struct pfstat_mapping *states, size_t nr);
/* Moves all of @more to the end of @maps. On -ENOMEM, @more keeps them. */
int proc_maps_append(struct proc_maps *maps, struct proc_maps *more);
/* Passes each mapping to @visit, and keeps it. */
void proc_maps_visit(const struct proc_maps *maps,
		     void (*visit)(void *context, const struct item_map *map), void *context);
/* Passes each mapping to @sink, in the order in which they were read, and empties the list. */
int proc_maps_hand_over(struct proc_maps *maps,
			int (*sink)(void *context, const struct item_map *map), void *context);
void proc_maps_exit(struct proc_maps *maps);

/*
 * Reads a process's memory map from /proc/PID/smaps, the stacks of the sleeping threads from
 * /proc/PID/task/TID/syscall, and the ranges hooked by the module from the module's file `targets`.
 */

/*
 * Fills @list except `measured` and the fields set by map_list_explain(). Returns -ESRCH if the
 * process does not exist, -ENODATA if it has no memory (a kernel thread), -EACCES or -ENOMEM.
 */
int proc_smaps_read(struct map_list *list, pid_t pid);

/* Adds an smaps line: a mapping, or a field for the last mapping. -EPROTO: neither. */
int proc_smaps_add_line(struct map_list *list, const char *line);
/*
 * Adds a line of /proc/PID/task/TID/syscall: "running", or numbers with the stack pointer
 * last but one.
 */
int proc_smaps_add_thread(struct map_list *list, pid_t tid, const char *line);
/* Adds a line from `targets`. Ignores lines for other processes. Returns 0 or -ENOMEM. */
int proc_smaps_add_target(struct map_list *list, const char *line);

#endif
