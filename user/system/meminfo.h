/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory the caches take, as /proc/meminfo says: of the whole machine. */
#ifndef PFSTAT_USER_MEMINFO_H
#define PFSTAT_USER_MEMINFO_H

#include <stdint.h>
#include <stdio.h>

/* KiB; COUNT_NA: there was no such line. */
struct meminfo {
	uint64_t available;
	uint64_t buffers; /* pages of block devices: file systems' own blocks */
	uint64_t cached;  /* pages of files */
	uint64_t dirty;
};

void meminfo_parse(struct meminfo *meminfo, FILE *file);
void meminfo_read(struct meminfo *meminfo);

#endif
