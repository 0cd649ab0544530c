/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One process's mappings, ordered by address and without overlaps. Processes share them after a
 * fork until one process changes.
 */
#ifndef PFSTAT_USER_SPACE_MAPS_H
#define PFSTAT_USER_SPACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space_map {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;	     /* file page at start */
	uint64_t inode;	     /* 0: no file */
	uint32_t dev;
	uint32_t path;	      /* name's number, see address_spaces_path() */
	uint32_t prot, flags; /* from struct item_map */
};

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

#endif
