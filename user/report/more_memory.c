// SPDX-License-Identifier: GPL-2.0-only
/* Reads the curve's points, and the pairs' evictors. */
#include "report/more_memory.h"

#define SHARED 0.1 /* of the reclaimed pages that came back, or were swapped out */

const struct memory_curve_point *more_memory_for(const struct report *run, double share)
{
	const struct evictions_curve *curve = &run->pages.evictions.curve;
	size_t i;

	for (i = 0; i < curve->nr_points; i++)
		if (curve->points[i].least.faults >= share)
			return &curve->points[i];
	return NULL;
}

static bool is_victim(const struct report_pages *pages, uint32_t pid)
{
	size_t i;

	for (i = 0; i < pages->nr_pairs; i++)
		if (pages->pairs[i].victim == pid)
			return true;
	return false;
}

bool more_memory_is_shared(const struct report *run)
{
	const struct report_pages *pages = &run->pages;
	const struct evictions_pair *pair;
	uint64_t all = pages->evictions.swaps.pages, others = pages->evictions.swaps.by_others;
	size_t i;

	for (i = 0; i < pages->nr_pairs; i++) {
		pair = &pages->pairs[i];
		if (pair->reason != EVICTIONS_RECLAIMED)
			continue;
		all += pair->pages;
		if (!pair->evictor_swaps && !is_victim(pages, pair->evictor))
			others += pair->pages;
	}
	return others > SHARED * all;
}
