/* SPDX-License-Identifier: GPL-2.0-only */
/* The file ranges an madvise(2) call was for, by the mappings at that time. */
#ifndef PFSTAT_USER_FILE_ADVICE_H
#define PFSTAT_USER_FILE_ADVICE_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/groups/address_spaces.h"

/* A file range passed to madvise(2). */
struct file_advice {
	const char *path;
	uint64_t inode;
	uint64_t page, pages;
	uint64_t start_ns, end_ns;
	int advice; /* MADV_* */
};
typedef int (*advice_sink)(void *context, const struct file_advice *advice);

/*
 * Calls the sink for each range. A call may span several mappings, and succeeds only without gaps
 * between them. Returns 0 or the sink's error.
 */
int file_advice_visit(struct spaces *spaces, const struct pfstat_advice *advice, advice_sink sink,
		      void *context);

#endif
