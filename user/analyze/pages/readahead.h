/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fate of pages read into the page cache, with a bit for each page in the files that targets
 * read. Events cover up to a million pages, and recordings are not trusted. Therefore all work is
 * done in chunks of 8192 pages, never page by page.
 */
#ifndef PFSTAT_USER_READAHEAD_H
#define PFSTAT_USER_READAHEAD_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"

struct readahead_figures {
	uint64_t read;		 /* pages read by targets from block devices */
	uint64_t mapped;	 /* among these, mapped by a fault afterwards */
	uint64_t evicted_unused; /* removed before a fault mapped them */
	uint64_t idle;		 /* still in neither state */
	uint64_t overflow;	 /* pages no longer followed, not counted above */
	/*
	 * The part of `read` and `evicted_unused` in 32 MiB file stretches in which a fault mapped
	 * a page. In other stretches read(2) may have used all pages.
	 */
	uint64_t faulted_read, faulted_evicted;
};

/* An event in the life of pages. */
enum readahead_fate {
	READAHEAD_READ, /* read, the end follows later, or never */
	READAHEAD_MAPPED,
	READAHEAD_EVICTED, /* evicted unused */
};

/* Consecutive pages within an aligned 8192-page range. */
struct readahead_pages {
	enum readahead_fate fate;
	uint32_t dev;
	uint64_t inode, pgoff, pages;
};

/* Returns 0 or a negative errno. */
typedef int (*readahead_sink)(void *context, const struct readahead_pages *pages);

struct readahead;

/* Memory by default: 128 GiB of files with idle pages all over, or 30 000 small files. */
#define READAHEAD_MEMORY (6U << 20)

/* @memory: limit on the memory for bits and chunks, in bytes */
struct readahead *readahead_new(uint64_t page_bytes, size_t memory);
void readahead_free(struct readahead *readahead);
/* Adds the file pages read by a completed request. */
int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block);
/* Ignores anonymous pages. */
int readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page);
/*
 * Another file has the inode from now on. The old file's unused pages were removed without an
 * event.
 */
int readahead_end_file(struct readahead *readahead, uint32_t dev, uint64_t inode);
int readahead_add_fault(struct readahead *readahead, const struct explained *fault);
/* Calls the sink for all later changes. */
void readahead_listen(struct readahead *readahead, readahead_sink sink, void *context);
void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures);

#endif
