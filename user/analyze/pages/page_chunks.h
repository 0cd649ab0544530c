/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-page file state, in chunks of pages. The owner chooses the bytes for each chunk, and limits
 * the number of chunks or their memory. If the memory is used up, chunks are dropped: the settled
 * ones first, then the chunks not looked up for the longest time.
 */
#ifndef PFSTAT_USER_PAGE_CHUNKS_H
#define PFSTAT_USER_PAGE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

/* Chunks that were looked up, or known to be missing, are found again without the hash table. */
#define PAGE_CHUNKS_RECENT 256U

struct page_chunk;

struct page_chunks_list {
	struct page_chunk *first, *last;
};

struct page_chunks_recent {
	uint64_t inode, number;
	uint32_t dev;
	bool known;
	struct page_chunk *chunk; /* NULL: there is none */
};

struct page_chunks {
	uint32_t pages;	   /* file pages per chunk, a power of two */
	size_t bytes;	   /* state bytes per chunk */
	size_t max;	   /* maximum number of chunks, 0 if none */
	size_t max_memory; /* limit on used_memory, 0 if none */
	/*
	 * Called before a chunk is freed. The owner frees what the chunk's state points to. May be
	 * NULL.
	 */
	void (*drop)(void *owner, void *kept);
	void *owner;
	size_t used_memory; /* in bytes, including page_chunks_resized() */
	size_t nr;
	uint64_t end; /* all chunks have lower numbers */
	/* The next one to be dropped is the first. */
	struct page_chunks_list open, settled;
	struct hash first; /* the first chunk for each hash */
	struct page_chunks_recent recent[PAGE_CHUNKS_RECENT];
};

/*
 * Frees the chunks. Before use, all members but pages, bytes, max, max_memory, drop and owner must
 * be 0.
 */
void page_chunks_exit(struct page_chunks *chunks);

/* Returns how many pages, from pgoff on, lie in the chunk that holds pgoff. */
static inline uint64_t page_chunks_within(const struct page_chunks *chunks, uint64_t pgoff,
					  uint64_t pages)
{
	const uint64_t rest = chunks->pages - (pgoff & (chunks->pages - 1));

	return pages < rest ? pages : rest;
}

/* Returns the state of the chunk that holds the page, NULL if none yet. */
void *page_chunks_find(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff);
/*
 * The same, but adds a missing chunk with all bytes 0, and may drop others. *kept NULL: max is
 * reached. Returns 0 or -ENOMEM.
 */
int page_chunks_get(struct page_chunks *chunks, uint32_t dev, uint64_t inode, uint64_t pgoff,
		    void **kept);
/* The chunk's state points to that much more memory. May drop other chunks. */
void page_chunks_resized(struct page_chunks *chunks, void *kept, ptrdiff_t bytes);
/* A settled chunk has nothing that is still needed, unless it changes again. */
void page_chunks_settle(struct page_chunks *chunks, void *kept, bool settled);
/* @pgoff: page at which the chunk begins */
typedef int (*page_chunks_end)(void *owner, void *kept, uint32_t dev, uint64_t inode,
			       uint64_t pgoff);
/*
 * Drops the chunks of a file whose inode belongs to another file from now on, and calls end() for
 * each before that. Returns 0 or the first end() error, which keeps the rest.
 */
int page_chunks_end_file(struct page_chunks *chunks, uint32_t dev, uint64_t inode,
			 page_chunks_end end);
/* Calls visit() for each chunk's state, in any order. */
void page_chunks_visit(const struct page_chunks *chunks,
		       void (*visit)(void *owner, void *kept, const void *context),
		       const void *context);

/*
 * A mark for each page in a chunk, stored as runs of pages with equal marks: a chunk whose pages
 * were all evicted at once takes one run. All zero is a chunk without marks.
 */

/* The pages from `from` up to the next run have the mark. */
struct page_run {
	uint16_t from, mark;
};

struct page_marks {
	struct page_run *runs; /* ordered, with different marks on neighbours */
	uint32_t nr, capacity; /* 0: all marks are 0, else the first run starts at page 0 */
};

void page_marks_exit(struct page_marks *marks);
/* Returns how many pages, from page `at` on, have the same mark, at most nr. Sets *mark. */
uint32_t page_marks_run(const struct page_marks *marks, uint32_t at, uint32_t nr, uint16_t *mark);
/* Sets the marks on nr pages. all = pages per chunk, at most 65536. Returns 0 or -ENOMEM. */
int page_marks_set(struct page_marks *marks, uint32_t at, uint32_t nr, uint32_t all, uint16_t mark);
/* Replaces each mark by change(). */
void page_marks_change(struct page_marks *marks,
		       uint16_t (*change)(const void *context, uint16_t mark), const void *context);
/* Bytes taken by the runs. */
size_t page_marks_bytes(const struct page_marks *marks);

#endif
