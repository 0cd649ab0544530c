/* SPDX-License-Identifier: GPL-2.0-only */
/* The files that are read and written: scratch files of one size, without names. */
#ifndef PFSTAT_USER_IO_FILES_H
#define PFSTAT_USER_IO_FILES_H

#include <signal.h>
#include <stdint.h>

#include "workload/mapping.h"

enum via_cache {
	VIA_COLD,	/* no page of them is in the page cache */
	VIA_WARM,	/* each was read once before: what stays of that, stays */
	VIA_FIT,	/* so few of them that all pages are in the cache, and stay there */
	NR_VIA_CACHES
};

#define VIA_CACHE_NAMES { "cold", "warm", "fit" }

struct files {
	struct mapping *mappings;
	unsigned int nr;
	uint64_t bytes;		/* of each */
	uint64_t *words;	/* a file's words are all this one */
};

/*
 * On the disk when it returns. -ENOSPC, -EINTR: told to stop, -EMFILE: more than may be
 * open at a time, and others as scratch_make().
 */
int files_make(struct files *files, const char *folder, unsigned int nr, uint64_t bytes,
	       const volatile sig_atomic_t *stop);
void files_close(struct files *files);

/*
 * Of so much available memory they may take an eighth: then neither reclaim nor the
 * limit at which writers are made to wait (vm.dirty_ratio) is near. 0: not even one.
 */
unsigned int files_that_fit(const struct files *files, uint64_t available_kb);

/* All are clean, and in that state. -EBUSY, -ENOSPC, -EINTR as file_cache.h says. */
int files_prepare(const struct files *files, unsigned int nr, enum via_cache cache,
		  const volatile sig_atomic_t *stop);
/* Pages of the first nr that are in the page cache. */
int files_resident(const struct files *files, unsigned int nr, uint64_t *pages);
/* The sum of all words in the first nr; and: they hold this one now. */
uint64_t files_sum(const struct files *files, unsigned int nr);
void files_hold(struct files *files, unsigned int nr, uint64_t word);
int files_sync(const struct files *files, unsigned int nr);

#endif
