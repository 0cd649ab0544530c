/* SPDX-License-Identifier: GPL-2.0-only */
/* Each process's mappings, and the task names. */
#ifndef PFSTAT_USER_ADDRESS_SPACES_H
#define PFSTAT_USER_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/groups/space_maps.h"
#include "model/item.h"

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

#endif
