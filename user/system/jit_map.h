/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /tmp/perf-PID.map: the file in which a program that compiles code at run time (a JIT) names
 * it for perf. A line "START SIZE NAME", both numbers in hexadecimal, for each function.
 */
#ifndef PFSTAT_USER_JIT_MAP_H
#define PFSTAT_USER_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_MAP_BYTES_MAX (64U << 20)

struct perf_map_place {
	uint64_t address;
	char *name; /* "name+0x1f", to be freed; NULL: no function is there */
};

/*
 * Names the places, which are sorted by address. Reads PERF_MAP_BYTES_MAX at most, and skips
 * lines that are not as above. Where functions overlap the last one in the file was compiled
 * last. -ENOMEM, or 0.
 */
int perf_map_read(FILE *file, struct perf_map_place *places, size_t nr);

#endif
