/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes a recording's items that belong to one file: faults, pages, requests. Items belonging to
 * no file (sleeps, threads, mappings) pass too. One path stands for several files if another file
 * replaced the first during the recording.
 */
#ifndef PFSTAT_USER_FILE_FILTER_H
#define PFSTAT_USER_FILE_FILTER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

struct file_filter_id {
	uint32_t dev; /* device number as in a record */
	uint64_t inode;
};

/* If all members are 0, everything passes. */
struct file_filter {
	struct file_filter_id *ids;
	size_t nr;
};

/*
 * Reads the whole recording to find the files with this path. -ENOENT: none of them had a fault.
 * -ENOSPC: the path is not among the files that are kept apart, and there are others. -EINTR:
 * *stop became nonzero. Otherwise as recording_open() and analysis_add().
 */
int file_filter_open(struct file_filter *filter, const char *recording, const char *path,
		     const volatile sig_atomic_t *stop);
void file_filter_close(struct file_filter *filter);

bool file_filter_passes(const struct file_filter *filter, const struct item *item);

#endif
