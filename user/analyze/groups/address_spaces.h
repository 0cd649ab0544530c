/* SPDX-License-Identifier: GPL-2.0-only */
/* What is mapped where in which process, and what tasks are called. */
#ifndef PFSTAT_USER_ADDRESS_SPACES_H
#define PFSTAT_USER_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

struct spaces;

struct space_map {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;	     /* page of the file at start */
	uint64_t inode;	     /* 0: no file */
	uint32_t dev;
	uint32_t path; /* number of its name, see address_spaces_path() */
};

struct spaces *address_spaces_new(void);
void address_spaces_free(struct spaces *spaces);

/* The path of names of which more were told than are kept: "(other files)". */
#define ADDRESS_SPACES_OTHERS 65535U

/* -ENOMEM. A map replaces what it overlaps. */
int address_spaces_add_map(struct spaces *spaces, const struct item_map *map);
/* A child begins with its parent's maps; a process that exited has none. */
int address_spaces_add_task(struct spaces *spaces, const struct pfstat_task *task);

/* The mapping at an address; NULL: none is known. Until the next addition. */
const struct space_map *address_spaces_find(struct spaces *spaces, uint32_t pid, uint64_t address);
/* Of a file, and by its own name. */
bool space_map_has_file(const struct space_map *map);
/* Of a number; "" for 0, which is no name. */
const char *address_spaces_path(const struct spaces *spaces, uint32_t path);
/* Of the file of that name, whichever device it is of; 0: it is not known. */
#define ADDRESS_SPACES_INODES_DIFFER UINT64_MAX /* several files had it */
uint64_t address_spaces_path_inode(const struct spaces *spaces, uint32_t path);
/* Of a name; 0: it is not known. */
uint32_t address_spaces_path_number(const struct spaces *spaces, const char *path);
/* The latest path of a file; 0: none is known. */
uint32_t address_spaces_file_path(const struct spaces *spaces, uint32_t dev, uint64_t inode);
/* Mappings, processes and names of threads that were not kept because there were too many. */
uint64_t address_spaces_dropped(const struct spaces *spaces);
/* The task's name; "": not known. */
const char *address_spaces_comm(const struct spaces *spaces, uint32_t tid);

#endif
