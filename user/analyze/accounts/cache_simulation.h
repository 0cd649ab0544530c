/* SPDX-License-Identifier: GPL-2.0-only */
/* Cachegrind's result for the access loop, for the printers. cachegrind_run.c produces it. */
#ifndef PFSTAT_USER_CACHE_SIMULATION_H
#define PFSTAT_USER_CACHE_SIMULATION_H

#include <stdint.h>

#include "analyze/accounts/cachegrind.h"

struct cache_geometry {
	const char *name;
	uint64_t bytes;
	unsigned int ways, line;
};

struct cache_simulation {
	char version[64];	/* from valgrind */
	struct cachegrind loop; /* figures with accesses minus figures without, ordered */
};

/*
 * I1, D1 and LL from the mmap measurement study, an i7-6800K. This CPU's last level is 15 MiB with
 * 20 ways, 12288 sets. Cachegrind accepts only powers of two, so here the last level has 30 ways
 * and 8192 sets. Cachegrind has no second level, no prefetcher and no TLB.
 */
#define CACHE_SIMULATION_GEOMETRY \
	{ { "I1", 32768, 8, 64 }, { "D1", 32768, 8, 64 }, { "LL", 15728640, 30, 64 } }
#define CACHE_SIMULATION_LEVELS 3

#endif
