// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference of lab d. MADV_RANDOM disables read-ahead, so each lookup waits for the disk, one
 * after the other. Here all requests are under way before the first lookup: in ascending order, so
 * that neighbours become one request, and only for the pages that are used.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "plan.h"

/* Records so near are one request: the disk takes 100 us for each, whatever its size. */
#define NEAR 2

static int compare(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

void plan(int fd, void *map, size_t bytes, size_t *lookups, size_t count)
{
	qsort(lookups, count, sizeof(*lookups), compare);
	madvise(map, bytes, MADV_RANDOM);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && lookups[end] - lookups[end - 1] <= NEAR;)
			end++;
		madvise((char *)map + lookups[i] * PLAN_RECORD,
			(lookups[end - 1] - lookups[i] + 1) * PLAN_RECORD, MADV_WILLNEED);
	}
}
