// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the cache sizes in a latency sweep, and the line size in the times of load pairs. Works on
 * the points from derived.c. Noise can only add time to a point.
 */
#include <math.h>
#include <stdbool.h>

#include "bench/suite/core/infer.h"

/*
 * Beyond a cache's size the latency climbs, steeply at first and then less, until nearly all loads
 * miss. A climb lasts while each size costs SLOPE times the size before. A climb marks the end of a
 * cache if it comes to a factor of STEP in all:
 *
 *	ns                   ____--- memory
 *	          ____---/--/
 *	______/--/      ^ the second climb begins: size of the second cache
 *	     ^ the first climb begins: size of the first cache
 *
 * Other causes, such as TLB reach, stay below STEP.
 */
#define SLOPE 1.15
#define STEP  1.6

/* A pair whose second load also misses costs at least this factor more. */
#define DEARER 1.25

/* The latency at i. Noise only adds time, so a smaller value of a larger size is better. */
static double floor_at(const struct infer_point *points, size_t nr, size_t i)
{
	double least = points[i].ns;

	while (++i < nr)
		least = fmin(least, points[i].ns);
	return least;
}

static bool climbs(const struct infer_point *points, size_t nr, size_t i)
{
	return i + 1 < nr && floor_at(points, nr, i + 1) > SLOPE * floor_at(points, nr, i);
}

size_t infer_caches(const struct infer_point *points, size_t nr, uint64_t *sizes)
{
	size_t found = 0, start, i = 0;

	while (i < nr && found < INFER_LEVELS) {
		for (start = i; climbs(points, nr, i); i++)
			;
		if (floor_at(points, nr, i) > STEP * floor_at(points, nr, start))
			sizes[found++] = points[start].bytes;
		if (i == start)
			i++;
	}
	return found;
}

uint64_t infer_line(const struct infer_point *points, size_t nr)
{
	double low = points[0].ns, high = points[0].ns;
	size_t i;

	for (i = 1; i < nr; i++) {
		low = fmin(low, points[i].ns);
		high = fmax(high, points[i].ns);
	}
	if (high < low * DEARER)
		return 0;
	for (i = 0; i < nr; i++)
		if (points[i].ns > (low + high) / 2)
			return points[i].bytes;
	return 0;
}
