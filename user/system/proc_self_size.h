/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How large a process is, asked by itself: exact, and without a fault of its own,
 * once it has asked before.
 */
#ifndef PFSTAT_USER_PROC_SELF_SIZE_H
#define PFSTAT_USER_PROC_SELF_SIZE_H

#include <stddef.h>
#include <stdint.h>

struct sizes {
	uint64_t virtual_bytes; /* /proc/self/statm */
	/*
	 * /proc/self/smaps_rollup: what the page tables hold now. (The kernel's own
	 * counter, which ps and VmRSS show, may lag by some pages a CPU.)
	 */
	uint64_t resident_bytes;
	uint64_t mapped_pages; /* present in a range: /proc/self/pagemap */
};

struct sizes_files {
	int statm, rollup, pagemap;
};

/* In the process itself, after its fork. 0 or a negative errno. */
int sizes_open(struct sizes_files *files);
/* The range may be NULL: no pages. 0 or a negative errno; -EPROTO: not what proc(5) says. */
int sizes_read(const struct sizes_files *files, const volatile void *range, size_t pages,
	       struct sizes *sizes);

#endif
