/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latest name and generation of each mapped file, by device and inode. A file system gives a
 * deleted file's inode to a new file, with another generation.
 */
#ifndef PFSTAT_USER_FILE_NAMES_H
#define PFSTAT_USER_FILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/item.h"
#include "util/hash.h"

struct file_name {
	uint64_t inode;
	uint32_t dev;
	uint32_t path;	     /* path number in address_spaces.h */
	uint32_t generation; /* from struct item_map */
	bool was_reused;     /* an earlier file had the inode */
};

/* All zero is empty. */
struct file_names {
	struct hash files; /* struct file_name by dev and inode */
};

void file_names_exit(struct file_names *names);
/* NULL: not known. */
const struct file_name *file_names_find(const struct file_names *names, uint32_t dev,
					uint64_t inode);
/*
 * Sets the name of the map's file, and the generation if the map has one. Keeps at most max files.
 * Returns 0 or -ENOMEM.
 */
int file_names_set(struct file_names *names, const struct item_map *map, uint32_t path,
		   uint32_t max);
/* True if the map has another generation than the last one of the same inode. */
bool file_names_is_reused(const struct file_names *names, const struct item_map *map);

#endif
