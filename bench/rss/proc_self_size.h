/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact size of the calling process. After proc_self_size_open(), a reading causes no page fault
 * itself.
 */
#ifndef PFSTAT_USER_PROC_SELF_SIZE_H
#define PFSTAT_USER_PROC_SELF_SIZE_H

#include <stddef.h>
#include <stdint.h>

struct sizes {
	uint64_t virtual_bytes; /* /proc/self/statm */
	/*
	 * From /proc/self/smaps_rollup: the present entries of the page tables. (The
	 * kernel's own counter, which ps and VmRSS show, may lag by some pages per CPU.)
	 */
	uint64_t resident_bytes;
	uint64_t mapped_pages; /* present pages in the range: /proc/self/pagemap */
};

struct sizes_files {
	int statm, rollup, pagemap;
};

/* Call it in the process itself, after fork(). Returns 0 or a negative errno. */
int proc_self_size_open(struct sizes_files *files);
/*
 * @range: may be NULL if @pages is not needed. Returns 0, or a negative errno: -EPROTO if a file
 * does not have the proc(5) format.
 */
int proc_self_size_read(const struct sizes_files *files, const volatile void *range, size_t pages,
			struct sizes *sizes);

#endif
