/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file's pages in the page cache: put in, taken out, and verified. The
 * caches of other files are left alone.
 */
#ifndef PFSTAT_USER_FILE_CACHE_H
#define PFSTAT_USER_FILE_CACHE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

/* Pages of the file that are in the cache now (mincore). */
int cache_resident(const struct mapping *mapping, uint64_t *pages);

/* Is the file of this descriptor on a file system that keeps its files in memory only? */
bool cache_is_all(int fd);

/*
 * Does the kernel report to this process which pages are in the cache? It does so to the
 * file's owner and to those who may write to it; to others all pages seem to be there.
 */
bool cache_is_visible(int fd);

/*
 * Writes the file's dirty pages back, drops all of them, and verifies. The
 * file must not be mapped here. -EBUSY: *resident pages stay, whatever is
 * done; -EINTR: told to stop.
 */
int cache_make_cold(const struct mapping *mapping, const volatile sig_atomic_t *stop,
		    uint64_t *resident);

/*
 * Reads the whole file, and verifies; one that will be stored to is clean then.
 * -ENOBUFS: only *resident pages fit.
 */
int cache_make_warm(const struct mapping *mapping, const volatile sig_atomic_t *stop,
		    uint64_t *resident);

#endif
