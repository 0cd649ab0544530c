/* SPDX-License-Identifier: GPL-2.0-only */
/* The files to read and write: scratch files of one size, without names. */
#ifndef PFSTAT_USER_IO_FILES_H
#define PFSTAT_USER_IO_FILES_H

#include <signal.h>
#include <stdint.h>

#include "workload/mapping.h"

enum io_cache {
	IO_COLD, /* none of their pages is in the page cache */
	IO_WARM, /* each was read once before, and some pages may stay */
	IO_FIT,	 /* so few files that all pages are in the cache, and stay there */
	NR_IO_CACHES
};

#define IO_CACHE_NAMES { "cold", "warm", "fit" }

struct io_files {
	struct mapping *mappings;
	unsigned int nr;
	uint64_t bytes;	 /* per file */
	uint64_t *words; /* a file's words are all this one */
};

/*
 * The files are on the disk on return. -ENOSPC. -EINTR: a signal. -EMFILE: more files than may be
 * open at a time. Other errors are those from scratch_file_make().
 */
int io_files_make(struct io_files *files, const char *folder, unsigned int nr, uint64_t bytes,
		  const volatile sig_atomic_t *stop);
void io_files_close(struct io_files *files);

/*
 * They may take an eighth of the available memory: then neither reclaim nor the limit at which
 * writers are throttled (vm.dirty_ratio) is near. 0: not even one.
 */
unsigned int io_files_that_fit(const struct io_files *files, uint64_t available_kb);

/* All are clean and in that state afterwards. -EBUSY, -ENOSPC, -EINTR as in file_cache.h. */
int io_files_prepare(const struct io_files *files, unsigned int nr, enum io_cache cache,
		     const volatile sig_atomic_t *stop);
/* Number of pages from the first nr files in the page cache. */
int io_files_resident(const struct io_files *files, unsigned int nr, uint64_t *pages);
/*
 * The sum of all words in the first nr files. io_files_hold() records that they now hold this word.
 */
uint64_t io_files_sum(const struct io_files *files, unsigned int nr);
void io_files_hold(struct io_files *files, unsigned int nr, uint64_t word);
int io_files_sync(const struct io_files *files, unsigned int nr);

#endif
