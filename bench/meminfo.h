/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes of the caches of the whole machine, from /proc/meminfo. */
#ifndef PFSTAT_USER_MEMINFO_H
#define PFSTAT_USER_MEMINFO_H

#include <stdint.h>
#include <stdio.h>

/* In KiB; COUNT_NA if the line is missing. */
struct meminfo {
	uint64_t available;
	uint64_t buffers; /* pages of block devices: metadata of file systems */
	uint64_t cached;  /* pages of files */
	uint64_t dirty;
};

void meminfo_parse(struct meminfo *meminfo, FILE *file);
void meminfo_read(struct meminfo *meminfo);

#endif
