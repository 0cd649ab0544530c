// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the uses from all recordings by page, keeps pages with enough uses, and joins pages that
 * follow each other. The result does not depend on the order of the recordings.
 */
#include <errno.h>
#include <stdlib.h>

#include "prefetch/prefetch_plan.h"
#include "util/array.h"

void prefetch_plan_exit(struct prefetch_plan *plan)
{
	free(plan->uses);
	free(plan->extents);
	*plan = (struct prefetch_plan){ 0 };
}

int prefetch_plan_add(struct prefetch_plan *plan, const struct prefetch_use *use)
{
	if (plan->nr_uses == PREFETCH_USES_MAX)
		return -E2BIG;
	if (array_reserve((void **)&plan->uses, plan->nr_uses, &plan->room, sizeof(*plan->uses)))
		return -ENOMEM;
	plan->uses[plan->nr_uses++] = *use;
	return 0;
}

static int prefetch_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int prefetch_compare_uses(const void *a, const void *b)
{
	const struct prefetch_use *left = a, *right = b;

	return prefetch_compare_numbers(left->file, right->file)	   ?:
		       prefetch_compare_numbers(left->pgoff, right->pgoff) ?:
		       prefetch_compare_numbers(left->rank, right->rank)   ?:
		       prefetch_compare_numbers(left->run, right->run);
}

static int prefetch_compare_order(const void *a, const void *b)
{
	const struct prefetch_extent *left = a, *right = b;

	return prefetch_compare_numbers(left->rank, right->rank)	 ?:
		       prefetch_compare_numbers(left->file, right->file) ?:
		       prefetch_compare_numbers(left->pgoff, right->pgoff);
}

/* Returns how many uses, from the first on, are for the same page. */
static size_t same_page(const struct prefetch_use *uses, size_t nr)
{
	size_t same = 1;

	while (same < nr && uses[same].file == uses->file && uses[same].pgoff == uses->pgoff)
		same++;
	return same;
}

/* One page's uses, by rank, become an extent with this page. */
static struct prefetch_extent extent_of(const struct prefetch_use *uses, size_t nr)
{
	struct prefetch_extent extent = {
		.file = uses->file,
		.pgoff = uses->pgoff,
		.pages = 1,
		.rank = (uint64_t)uses[(nr - 1) / 2].rank + uses[nr / 2].rank,
		.kept = true,
	};
	size_t i;

	for (i = 0; i < nr; i++) {
		extent.fault_ns += uses[i].fault_ns;
		extent.read_ns += uses[i].read_ns;
	}
	return extent;
}

static bool continues(const struct prefetch_extent *extent, const struct prefetch_extent *next)
{
	return extent->file == next->file && extent->pgoff + extent->pages == next->pgoff &&
	       next->pgoff % PREFETCH_EXTENT_PAGES;
}

static void add_page(struct prefetch_plan *plan, const struct prefetch_extent *page)
{
	struct prefetch_extent *last = plan->extents + plan->nr_extents - 1;

	if (!plan->nr_extents || !continues(last, page)) {
		plan->extents[plan->nr_extents++] = *page;
		return;
	}
	last->pages++;
	last->fault_ns += page->fault_ns;
	last->read_ns += page->read_ns;
	if (page->rank < last->rank)
		last->rank = page->rank;
}

int prefetch_plan_make(struct prefetch_plan *plan, unsigned int nr_runs, unsigned int min_runs)
{
	struct prefetch_extent page;
	size_t at, same;

	plan->extents = calloc(plan->nr_uses + 1, sizeof(*plan->extents));
	if (!plan->extents)
		return -ENOMEM;
	if (plan->nr_uses)
		qsort(plan->uses, plan->nr_uses, sizeof(*plan->uses), prefetch_compare_uses);
	for (at = 0; at < plan->nr_uses; at += same) {
		same = same_page(plan->uses + at, plan->nr_uses - at);
		plan->pages_seen++;
		if (same < min_runs)
			continue;
		page = extent_of(plan->uses + at, same);
		add_page(plan, &page);
	}
	for (at = 0; at < plan->nr_extents; at++) {
		plan->extents[at].fault_ns /= nr_runs;
		plan->extents[at].read_ns /= nr_runs;
	}
	qsort(plan->extents, plan->nr_extents, sizeof(*plan->extents), prefetch_compare_order);
	return 0;
}

/* Sorts by time avoided for each page, most first, then by first use. */
static int prefetch_compare_benefit(const void *a, const void *b)
{
	const struct prefetch_extent *left = *(struct prefetch_extent *const *)a;
	const struct prefetch_extent *right = *(struct prefetch_extent *const *)b;
	const double of_left = (double)(left->fault_ns + left->read_ns) / left->pages;
	const double of_right = (double)(right->fault_ns + right->read_ns) / right->pages;

	if (of_left != of_right)
		return of_left > of_right ? -1 : 1;
	return prefetch_compare_order(left, right);
}

/* Returns pointers to all extents, most benefit first. The caller frees them. */
static struct prefetch_extent **by_benefit(const struct prefetch_plan *plan)
{
	struct prefetch_extent **sorted = calloc(plan->nr_extents + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return NULL;
	for (i = 0; i < plan->nr_extents; i++)
		sorted[i] = &plan->extents[i];
	qsort(sorted, plan->nr_extents, sizeof(*sorted), prefetch_compare_benefit);
	return sorted;
}

int prefetch_plan_cut(struct prefetch_plan *plan, uint64_t max_pages)
{
	struct prefetch_extent **sorted = by_benefit(plan);
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < plan->nr_extents; i++) {
		sorted[i]->kept = sorted[i]->pages <= max_pages;
		if (sorted[i]->kept)
			max_pages -= sorted[i]->pages;
	}
	free(sorted);
	return 0;
}

static void add_to_sum(struct prefetch_sum *sum, const struct prefetch_extent *extent)
{
	sum->extents++;
	sum->pages += extent->pages;
	sum->fault_ns += extent->fault_ns;
	sum->read_ns += extent->read_ns;
}

struct prefetch_sum prefetch_plan_sum(const struct prefetch_plan *plan, bool kept)
{
	struct prefetch_sum sum = { 0 };
	size_t i;

	for (i = 0; i < plan->nr_extents; i++)
		if (plan->extents[i].kept == kept)
			add_to_sum(&sum, &plan->extents[i]);
	return sum;
}

int prefetch_plan_curve(const struct prefetch_plan *plan, const unsigned int *percents, size_t nr,
			struct prefetch_sum *sums)
{
	struct prefetch_extent **sorted = by_benefit(plan);
	struct prefetch_sum sum = { 0 };
	double total = 0, aim;
	size_t i, next = 0;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < plan->nr_extents; i++)
		total += sorted[i]->fault_ns + sorted[i]->read_ns;
	for (i = 0; i < nr; i++) {
		aim = total * percents[i] / 100;
		while (next < plan->nr_extents && sum.fault_ns + sum.read_ns < aim)
			add_to_sum(&sum, sorted[next++]);
		sums[i] = sum;
	}
	free(sorted);
	return 0;
}
