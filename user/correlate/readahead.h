/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the pages that were read into the page cache: two bits a
 * page, of the files that targets read.
 */
#ifndef PFSTAT_USER_READAHEAD_H
#define PFSTAT_USER_READAHEAD_H

#include <stdint.h>

#include <pfstat/event.h>

#include "explain.h"

struct readahead_figures {
	uint64_t read;		/* pages that targets read from block devices */
	uint64_t mapped;	/* of these, mapped by a fault afterwards */
	uint64_t evicted_unused;	/* removed before that */
	uint64_t idle;		/* neither, at the end */
	uint64_t overflow;	/* pages of more files than are kept: counted nowhere above */
};

/* What happens to one page. */
enum readahead_fate {
	READAHEAD_READ,		/* it came: the rest follows later, or never */
	READAHEAD_MAPPED,
	READAHEAD_EVICTED,	/* unused */
};

struct readahead_page {
	enum readahead_fate fate;
	uint32_t dev;
	uint64_t inode, pgoff;
};

/* 0 or a negative errno. */
typedef int (*readahead_sink)(void *context, const struct readahead_page *page);

struct readahead;

struct readahead *readahead_new(void);
void readahead_free(struct readahead *readahead);
/* A request that was completed: what it read of a file. */
int readahead_add_block(struct readahead *readahead, const struct pfstat_block *block);
int readahead_remove_page(struct readahead *readahead, const struct pfstat_page *page);
int readahead_add_fault(struct readahead *readahead, const struct explained *fault);
/* One who is told of each page from now on. */
void readahead_listen(struct readahead *readahead, readahead_sink sink, void *context);
void readahead_figures(const struct readahead *readahead, struct readahead_figures *figures);

#endif
