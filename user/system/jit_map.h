/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /tmp/perf-PID.map: a program that compiles code at run time (a JIT) writes this file to name its
 * functions for perf. The file has one line "START SIZE NAME" for each function. Both numbers are
 * hexadecimal.
 */
#ifndef PFSTAT_USER_JIT_MAP_H
#define PFSTAT_USER_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_MAP_BYTES_MAX (64U << 20)

struct jit_map_place {
	uint64_t address;
	char *name; /* "name+0x1f", freed by the caller, or NULL if in no function */
};

/*
 * Sets the names in @places, which must be sorted by address. Reads at most PERF_MAP_BYTES_MAX and
 * skips lines in any other form. If functions overlap, the last one in the file wins because it was
 * compiled last. Returns 0 or -ENOMEM.
 */
int jit_map_read(FILE *file, struct jit_map_place *places, size_t nr);

#endif
