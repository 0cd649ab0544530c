/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of pages of files: a piece of a file at a time, as many bytes for each
 * piece as its owner wants, and no more than so many pieces.
 */
#ifndef PFSTAT_USER_PAGE_CHUNKS_H
#define PFSTAT_USER_PAGE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "util/hash.h"

struct pieces {
	uint32_t pages;		/* of a file in one piece */
	size_t bytes;		/* that are kept of it */
	size_t max;		/* pieces */
	size_t nr;
	struct hash first;	/* of those that have the same key */
};

/* All else in it 0. */
void pieces_exit(struct pieces *pieces);

/* How many of the pages, from the first on, are in the piece of the first. */
static inline uint64_t pieces_within(const struct pieces *pieces, uint64_t pgoff, uint64_t pages)
{
	const uint64_t rest = pieces->pages - pgoff % pieces->pages;

	return pages < rest ? pages : rest;
}

/* What is kept of the piece that the page is in; NULL: nothing yet. */
void *pieces_find(const struct pieces *pieces, uint32_t dev, uint64_t inode, uint64_t pgoff);
/* The same, all 0 when it is new. *kept NULL: there are too many. -ENOMEM. */
int pieces_get(struct pieces *pieces, uint32_t dev, uint64_t inode, uint64_t pgoff, void **kept);

/* Pages of its file that a request moves, from pgoff on; 0: it moves no file. */
uint64_t pieces_moved_by(const struct pfstat_block *block);
/* The same of a read that did not fail, else 0. */
uint64_t pieces_read_by(const struct pfstat_block *block);

#endif
