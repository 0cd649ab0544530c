/* SPDX-License-Identifier: GPL-2.0-only */
/* Caches, as the latencies of loads tell of them. Pure. */
#ifndef PFSTAT_USER_INFER_H
#define PFSTAT_USER_INFER_H

#include <stddef.h>
#include <stdint.h>

#define INFER_LEVELS 3

struct infer_point {
	uint64_t bytes;		/* size, or distance */
	double ns;
};

/*
 * points: loads in a random order over ever larger memory. Fills in the largest
 * sizes that still fit each cache, the fastest first; the number of caches found.
 */
size_t infer_caches(const struct infer_point *points, size_t nr, uint64_t *sizes);

/*
 * points: a load, then one at that distance from it. The smallest distance at which
 * the second misses as well; 0: none is seen.
 */
uint64_t infer_line(const struct infer_point *points, size_t nr);

#endif
