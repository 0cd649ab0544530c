/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of pages of files: a chunk of a file at a time, as many bytes for each
 * chunk as its owner wants, and no more than so many chunks.
 */
#ifndef PFSTAT_USER_PAGE_CHUNKS_H
#define PFSTAT_USER_PAGE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "util/hash.h"

struct page_chunks {
	uint32_t pages; /* of a file in one chunk */
	size_t bytes;	/* that are kept of it */
	size_t max;	/* chunks */
	size_t nr;
	struct hash first; /* of those that have the same key */
};

/* All else in it 0. */
void page_chunks_exit(struct page_chunks *chunks);

/* How many of the pages, from the first on, are in the chunk of the first. */
static inline uint64_t page_chunks_within(const struct page_chunks *chunks, uint64_t pgoff,
					  uint64_t pages)
{
	const uint64_t rest = chunks->pages - pgoff % chunks->pages;

	return pages < rest ? pages : rest;
}

/* What is kept of the chunk that the page is in; NULL: nothing yet. */
void *page_chunks_find(const struct page_chunks *chunks, uint32_t dev, uint64_t inode,
		       uint64_t pgoff);
/* The same, all 0 when it is new. *kept NULL: there are too many. -ENOMEM. */
int page_chunks_get(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff,
		    void **kept);

/* Pages of its file that a request moves, from pgoff on; 0: it moves no file. */
uint64_t page_chunks_moved_by(const struct pfstat_block *block);
/* The same of a read that did not fail, else 0. */
uint64_t page_chunks_read_by(const struct pfstat_block *block);

#endif
