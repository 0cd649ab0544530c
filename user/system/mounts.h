/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the mount table of a process, /proc/PID/mountinfo. The kernel prints it without asking a
 * server, so a dead one does not block the reader. A path is never opened for this.
 *
 * Mappings, records and mountinfo have the number of the super block (for btrfs, too), and each
 * number is used once on a machine. So a file system that is found in any mount namespace is the
 * file's, whatever its path is, and if the file is deleted.
 */
#ifndef PFSTAT_USER_MOUNTS_H
#define PFSTAT_USER_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/counters.h"
#include "model/filesystem.h"
#include "model/item.h"

struct mount_line {
	uint64_t id; /* STATX_MNT_ID */
	struct filesystem filesystem;
};

/* Parses a line of mountinfo, with or without newline. Returns false if it is not one. */
bool mount_line_parse(struct mount_line *mount, const char *line);

/* Finds the first mount with the device number, or with the mount id, in a file like mountinfo. */
bool mounts_find_device(const char *path, uint32_t dev, struct filesystem *found);
bool mounts_find_id(const char *path, uint64_t id, struct filesystem *found);

/*
 * The file systems of all files that items name. All zero: none so far.
 * Each number is looked up when it is seen for the first time: in the mount table of the process,
 * of pfdrive and of process 1. If none has it, the next processes are tried, up to a limit.
 */
struct mounts {
	struct filesystem *rows;
	size_t nr, room;
	struct unknown_mount *unknown;
	size_t nr_unknown, unknown_room;
	uint32_t last_dev; /* known, or given up */
};

/* Without memory, the file system stays unknown. */
void mounts_see(struct mounts *mounts, uint32_t dev, uint32_t pid);
void mounts_see_item(struct mounts *mounts, const struct item *item);
/* Moves the file systems found to the counters, which have none. */
void mounts_hand_over(struct mounts *mounts, struct run_counters *counters);
void mounts_exit(struct mounts *mounts);

#endif
