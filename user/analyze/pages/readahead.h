/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the pages that were read into the page cache: a bit a page of the
 * files that targets read. Events cover up to a million pages, and recordings are not
 * trusted: all work is done by pieces of 8192 pages, never page by page.
 */
#ifndef PFSTAT_USER_READAHEAD_H
#define PFSTAT_USER_READAHEAD_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"

struct readahead_figures {
	uint64_t read;		 /* pages that targets read from block devices */
	uint64_t mapped;	 /* of these, mapped by a fault afterwards */
	uint64_t evicted_unused; /* removed before that */
	uint64_t idle;		 /* neither, at the end */
	uint64_t overflow;	 /* pages of more files than are kept: counted nowhere above */
};

/* What happens to pages. */
enum readahead_fate {
	READAHEAD_READ, /* it came: the rest follows later, or never */
	READAHEAD_MAPPED,
	READAHEAD_EVICTED, /* unused */
};

/* Pages that follow each other, within 8192 that are aligned. */
struct readahead_pages {
	enum readahead_fate fate;
	uint32_t dev;
	uint64_t inode, pgoff, pages;
};

/* 0 or a negative errno. */
typedef int (*readahead_sink)(void *context, const struct readahead_pages *pages);

struct readahead;

struct readahead *readahead_new(void);
void readahead_free(struct readahead *readahead);
/* A request that was completed: what it read of a file. */
int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block);
int readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page);
int readahead_add_fault(struct readahead *readahead, const struct explained *fault);
/* Calls the sink for all pages from now on. */
void readahead_listen(struct readahead *readahead, readahead_sink sink, void *context);
void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures);

#endif
