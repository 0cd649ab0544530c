/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes the items of a recording that belong to one file: its faults, its pages, the
 * requests for it. Items of no file (sleeps, threads, mappings) pass, too. A name stands
 * for several files if another one took its place while it was recorded.
 */
#ifndef PFSTAT_USER_FILE_FILTER_H
#define PFSTAT_USER_FILE_FILTER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

struct file_filter_id {
	uint32_t dev; /* as in a record */
	uint64_t inode;
};

/* All zero: everything passes. */
struct file_filter {
	struct file_filter_id *ids;
	size_t nr;
};

/*
 * Reads all of the recording, for the files that it calls path. -ENOENT: none of them
 * had a fault; -ENOSPC: none of those that are told apart, and there are others; -EINTR:
 * *stop is no longer 0; else as recording_open() and analysis_add().
 */
int file_filter_open(struct file_filter *filter, const char *recording, const char *path,
		     const volatile sig_atomic_t *stop);
void file_filter_close(struct file_filter *filter);

bool file_filter_passes(const struct file_filter *filter, const struct item *item);

#endif
