/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of files of each recorded process, each as an object of its own. */
#ifndef PFSTAT_USER_RECORDED_MAPPINGS_H
#define PFSTAT_USER_RECORDED_MAPPINGS_H

#include "advise/recorded_accesses.h"
#include "model/item.h"

/* Adds the mapping, if it is one of a file. Returns 0 or -ENOMEM. */
int recorded_mappings_add(struct recorded_accesses *accesses, const struct item_map *map);
/* A process starts as a copy of another one. Returns 0 or -ENOMEM. */
int recorded_mappings_inherit(struct recorded_accesses *accesses, uint32_t child, uint32_t parent);
/*
 * The latest mapping of that file at the address; NULL: none is known. The file is known by its
 * inode only, because mappings and records may have different devices (btrfs).
 */
struct accessed_mapping *recorded_mappings_find(struct recorded_accesses *accesses, uint32_t pid,
						uint64_t address, uint64_t inode);
/* The latest mapping of any file at the address. */
struct accessed_mapping *recorded_mappings_at(struct recorded_accesses *accesses, uint32_t pid,
					      uint64_t address);
/* The first file with that inode; NULL: none is known. */
struct accessed_file *recorded_mappings_file(struct recorded_accesses *accesses, uint64_t inode);
void recorded_mappings_exit(struct recorded_accesses *accesses);

#endif
