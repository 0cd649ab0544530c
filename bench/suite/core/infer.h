/* SPDX-License-Identifier: GPL-2.0-only */
/* Cache sizes and cache line sizes, inferred from load latencies. Pure. */
#ifndef PFSTAT_USER_INFER_H
#define PFSTAT_USER_INFER_H

#include <stddef.h>
#include <stdint.h>

#define INFER_LEVELS 3

struct infer_point {
	uint64_t bytes; /* memory size, or distance between two loads */
	double ns;
};

/*
 * @points: latency in random order, by increasing memory size
 * @sizes: for each cache, the fastest first, the largest fitting size
 * Returns the number of caches found.
 */
size_t infer_caches(const struct infer_point *points, size_t nr, uint64_t *sizes);

/*
 * @points: time for two loads, by increasing distance between them
 * Returns the smallest distance at which the second load misses too, or 0.
 */
uint64_t infer_line(const struct infer_point *points, size_t nr);

#endif
