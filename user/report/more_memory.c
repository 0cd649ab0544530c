// SPDX-License-Identifier: GPL-2.0-only
/* Reads the curve's points, and the pairs' evictors. */
#include <math.h>

#include "report/more_memory.h"

/* MEMCG_CHARGE_BATCH since 6.1, in pages. It was 32 before. */
#define CHARGE_BATCH 64U
#define SHARED	     0.1 /* of the reclaimed pages that came back, or were swapped out */

static uint64_t charged_ahead(const struct report *run)
{
	const uint64_t met = run->evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count;

	return met && run->environment.cpus ? (run->environment.cpus - 1) * CHARGE_BATCH : 0;
}

/* Three standard errors of the pages that were out, if they were counted in a sample. */
static uint64_t sample_error(const struct memory_curve_figures *figures)
{
	if (figures->one_of <= 1)
		return 0;
	return (uint64_t)ceil(3 * sqrt((double)figures->most_out * figures->one_of));
}

uint64_t more_memory_bytes(const struct report *run, const struct memory_curve_point *point)
{
	const struct evictions_curve *curve = &run->pages.evictions.curve;
	uint64_t pages = point->pages;

	if (point == &curve->points[curve->nr_points - 1])
		pages += charged_ahead(run) + sample_error(&curve->figures);
	return pages * run->environment.page_bytes;
}

double more_memory_mib(const struct report *run, const struct memory_curve_point *point)
{
	const double mib = more_memory_bytes(run, point) / 0x1p20;
	const double step = mib < 100 ? pow(10, floor(log10(mib)) - 2) : 1;

	return ceil(mib / step - 1e-6) * step;
}

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
		if (!pages->pairs[i].anon && pages->pairs[i].victim == pid)
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
		if (pair->anon || pair->reason != EVICTIONS_RECLAIMED)
			continue;
		all += pair->pages;
		if (!pair->evictor_swaps && !is_victim(pages, pair->evictor))
			others += pair->pages;
	}
	return others > SHARED * all;
}
