/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills, drops and verifies one file's page cache. Cached pages of other files are not affected. */
#ifndef PFSTAT_USER_FILE_CACHE_H
#define PFSTAT_USER_FILE_CACHE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

/* Counts the file's pages now in the cache (mincore). */
int file_cache_resident(const struct mapping *mapping, uint64_t *pages);

/* True if the file is on a file system that keeps files only in memory. */
bool file_cache_is_all(int fd);

/*
 * True if the kernel reports to this process which pages are cached. It does so only for the file's
 * owner and for users that may write to the file. For others mincore(2) reports all pages as
 * cached.
 */
bool file_cache_is_visible(int fd);

/*
 * Writes back dirty pages, drops all the file's pages, and verifies it. The file must not be mapped
 * in this process. Returns 0, -EBUSY if *resident pages cannot be dropped, or -EINTR after @stop.
 */
int file_cache_make_cold(const struct mapping *mapping, const volatile sig_atomic_t *stop,
			 uint64_t *resident);

/*
 * Reads the whole file, and verifies it is cached. If the file will be stored to, it is clean
 * afterwards. -ENOBUFS: only *resident pages fit into memory.
 */
int file_cache_make_warm(const struct mapping *mapping, const volatile sig_atomic_t *stop,
			 uint64_t *resident);

/* Prepares a file's page cache for a run. */

/*
 * Loads all the file's pages into the page cache (@warm) or drops all of them, and verifies it.
 * Returns STATUS_OK and stores the number of cached pages, or prints a message and returns the exit
 * status.
 * @name: the file's name in messages
 */
int cache_state_prepare(const struct mapping *mapping, const char *name, bool warm,
			uint64_t *resident);

#endif
