// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "infer.h"

/*
 * A level is where the latency stays within this of its floor; between two levels it
 * climbs by more than STEP, however many sizes the climb takes:
 *
 *	ns                      ______
 *	        ____________---/        a third level: memory
 *	_______/            ^ last size of the second: the second cache
 *	      ^ last size of the first level: the first cache
 */
#define SAME 1.25
#define STEP 1.6

/* A level's sizes are at least two: one alone may be a climb's middle. */
#define WIDTH 2

/* The floor at i: noise only ever adds, so a later, smaller latency is the truer one. */
static double floor_at(const struct infer_point *points, size_t nr, size_t i)
{
	double least = points[i].ns;

	while (++i < nr)
		least = fmin(least, points[i].ns);
	return least;
}

/* How many points from first on are on one level. */
static size_t level_length(const struct infer_point *points, size_t nr, size_t first)
{
	const double base = floor_at(points, nr, first);
	size_t length = 0;

	while (first + length < nr && floor_at(points, nr, first + length) <= base * SAME)
		length++;
	return length;
}

size_t infer_caches(const struct infer_point *points, size_t nr, uint64_t *sizes)
{
	size_t found = 0, first = 0, length;
	double level = 0, base;
	uint64_t last = 0;

	while (first < nr) {
		length = level_length(points, nr, first);
		base = floor_at(points, nr, first);
		if (length < WIDTH) {
			first += length;
			continue;
		}
		if (level && base > level * STEP && found < INFER_LEVELS)
			sizes[found++] = last;
		/* A small step, of the TLB for one, is still the same cache. */
		if (!level || base > level * STEP)
			level = base;
		first += length;
		last = points[first - 1].bytes;
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
	if (high < low * SAME)
		return 0;
	for (i = 0; i < nr; i++)
		if (points[i].ns > (low + high) / 2)
			return points[i].bytes;
	return 0;
}
