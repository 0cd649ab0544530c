/* SPDX-License-Identifier: GPL-2.0-only */
/* Each process's mappings, and the task names. */
#ifndef PFSTAT_USER_ADDRESS_SPACES_H
#define PFSTAT_USER_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"
#include "util/hash.h"

struct space_map {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;	     /* file page at start */
	uint64_t inode;	     /* 0: no file */
	uint32_t dev;
	uint32_t path;	      /* name's number, see address_spaces_path() */
	uint32_t prot, flags; /* from struct item_map */
	uint32_t pid;	      /* the process that mapped it: another one if a fork did the rest */
};

struct spaces;

/* @page_bytes: page size on the machine the maps come from */
struct spaces *address_spaces_new(uint64_t page_bytes);
/* Keeps at most max names, and as many files: before the first map. */
void address_spaces_limit_names(struct spaces *spaces, uint32_t max);
/* Keeps memory for at most max mappings in all processes. Call before the first map. */
void address_spaces_limit_maps(struct spaces *spaces, size_t max);
void address_spaces_free(struct spaces *spaces);

/* Number of the path "(other files)", which stands for names beyond the limit. */
#define ADDRESS_SPACES_OTHERS 65535U

/* Adds a map, which replaces the maps that it overlaps. Returns 0 or -ENOMEM. */
int address_spaces_add_map(struct spaces *spaces, const struct item_map *map);
/*
 * True if the map, which is not added yet, shows that the inode belongs to another file than in the
 * maps before: the generation differs. The old file and all old mappings are gone.
 */
bool address_spaces_is_reused(const struct spaces *spaces, const struct item_map *map);
/* Adds a fork, exec or exit. A child inherits the parent's maps. An exited process has none. */
int address_spaces_add_task(struct spaces *spaces, const struct pfstat_task *task);

/*
 * Passes every mapping and name to sink, as items that existed before a recording (ns 0). The
 * process for a name is not known, so the name's pid is the tid. A mapping has the inode's latest
 * generation, even if the mapping belongs to an earlier file: perf does not report when such a
 * mapping is gone.
 */
int address_spaces_visit(const struct spaces *spaces, item_sink sink, void *context);

/* Returns the mapping at an address, valid until the next addition, or NULL if none is known. */
const struct space_map *address_spaces_find(struct spaces *spaces, uint32_t pid, uint64_t address);
/* Returns an address's offset in the mapped file, in bytes. */
uint64_t address_spaces_offset(const struct spaces *spaces, const struct space_map *map,
			       uint64_t address);
/* True if the process has not ended, or has a known mapping. */
bool address_spaces_has(struct spaces *spaces, uint32_t pid);
uint64_t address_spaces_page_bytes(const struct spaces *spaces);
/* True if it maps a file, under a name of its own. */
bool space_map_has_file(const struct space_map *map);
/* Returns the path with this number, "" for 0. */
const char *address_spaces_path(const struct spaces *spaces, uint32_t path);
/* Returns the inode of the file with this name, on any device. 0 if not known. */
#define ADDRESS_SPACES_INODES_DIFFER UINT64_MAX /* several files had the name */
uint64_t address_spaces_path_inode(const struct spaces *spaces, uint32_t path);
/* Returns a path's number, 0 if not known. */
uint32_t address_spaces_path_number(const struct spaces *spaces, const char *path);
/* Returns a file's latest path, 0 if none is known. */
uint32_t address_spaces_file_path(const struct spaces *spaces, uint32_t dev, uint64_t inode);
/*
 * Returns the generation of the file that has the inode now, and the file's path, which is valid as
 * long as the spaces. A later file may have the same inode, and another generation. 0 if not known.
 */
uint32_t address_spaces_file_now(const struct spaces *spaces, uint32_t dev, uint64_t inode,
				 const char **path);
/* True if an earlier file had this file's inode. */
bool address_spaces_file_was_reused(const struct spaces *spaces, uint32_t dev, uint64_t inode);
/* Returns how many mappings, processes and thread names exceeded the limits. */
uint64_t address_spaces_dropped(const struct spaces *spaces);
/* Returns the task's name, "" if not known. */
const char *address_spaces_comm(const struct spaces *spaces, uint32_t tid);

/* The rest is for address_spaces.c. */

/*
 * One process's mappings, ordered by address and without overlaps. Processes share them after a
 * fork until one process changes.
 */

struct space_leaf {
	struct space_map *maps;
	uint32_t nr, capacity;
};

/* A list of short lists, so an insertion moves few maps. No leaf is empty. */
struct space_maps {
	unsigned int owners;
	struct space_leaf *leaves;
	size_t nr_leaves, leaves_capacity;
	size_t nr;	 /* maps */
	size_t capacity; /* maps fitting in all leaves' memory */
};

/* Has one owner. NULL: no memory. */
struct space_maps *space_maps_new(void);
/* Has one owner. NULL: no memory. */
struct space_maps *space_maps_copy(const struct space_maps *maps);
/* Returns the capacity becoming free: 0 if there are other owners. */
size_t space_maps_put(struct space_maps *maps);
/* Returns the first map ending after the address, valid until the next change, or NULL. */
const struct space_map *space_maps_first_after(const struct space_maps *maps, uint64_t address);
/*
 * Adds a map, which replaces the overlapped parts of other maps. The capacity does not exceed max.
 * Returns 0, -ENOMEM, or -ENOSPC: the overlapped parts are gone, and the new map or the rest of a
 * map cut in two is not in the list.
 */
int space_maps_replace(struct space_maps *maps, const struct space_map *map, uint64_t page_bytes,
		       size_t max);
/* Visits by address. A nonzero @visit result stops the visit and is returned. */
int space_maps_visit(const struct space_maps *maps,
		     int (*visit)(void *context, const struct space_map *map), void *context);

/*
 * The latest name and generation of each mapped file, by device and inode. A file system gives a
 * deleted file's inode to a new file, with another generation.
 */

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
