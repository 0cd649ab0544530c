/* SPDX-License-Identifier: GPL-2.0-only */
/* Cache sizes for the whole machine, from /proc/meminfo. */
#ifndef PFSTAT_USER_MEMINFO_H
#define PFSTAT_USER_MEMINFO_H

#include <stdint.h>
#include <stdio.h>

/* In KiB, COUNT_NA if the line is missing. */
struct meminfo {
	uint64_t available;
	uint64_t buffers; /* block device pages: file system metadata */
	uint64_t cached;  /* file pages */
	uint64_t dirty;
};

void meminfo_parse(struct meminfo *meminfo, FILE *file);
void meminfo_read(struct meminfo *meminfo);

#endif
