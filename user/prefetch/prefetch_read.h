/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the extents in a prefetch list into the page cache, from several threads. A file is skipped
 * if it is not the listed one, or has changed.
 */
#ifndef PFSTAT_USER_PREFETCH_READ_H
#define PFSTAT_USER_PREFETCH_READ_H

#include <signal.h>
#include <stdint.h>

#include "prefetch/prefetch_list.h"

#define PREFETCH_THREADS_MAX	 64U
#define PREFETCH_THREADS_DEFAULT 8U

struct prefetch_result {
	uint64_t bytes;	   /* in the page cache now */
	uint64_t files;	   /* from which all extents were read */
	uint64_t left_out; /* files not read, or not completely; a message says why */
	uint64_t elapsed_ns;
};

/* Opens and parses a list. STATUS_OK, or STATUS_FAILED after a message. */
int prefetch_read_list(struct prefetch_list *list, const char *path);
/*
 * Reads everything, and returns when it is in the page cache. Returns STATUS_OK, also if files were
 * skipped, STATUS_FAILED after a message, or 128 + the signal.
 */
int prefetch_read(const struct prefetch_list *list, unsigned int threads,
		  struct prefetch_result *result);

#endif
