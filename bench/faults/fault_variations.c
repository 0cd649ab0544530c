// SPDX-License-Identifier: GPL-2.0-only
/* Each run in a variation is a page order, which analyze/prediction/prediction.h simulates. */
#include <errno.h>
#include <stdlib.h>

#include "bench/faults/fault_experiments.h"
#include "bench/faults/fault_variations.h"
#include "util/bitmap.h"
#include "util/random.h"

#define KIB_128 32U /* pages */
#define MIB_1	256U

const struct fault_variation fault_variations[NR_FAULT_VARIATIONS] = {
	{ .order = FAULT_ORDER_STEPPED, .window = KIB_128 },
	{ .order = FAULT_ORDER_STEPPED, .window = KIB_128, .hits_ignored = true },
	{ .order = FAULT_ORDER_SHUFFLED, .window = KIB_128 },
	{ .order = FAULT_ORDER_WRAPPED, .window = KIB_128 },
	{ .order = FAULT_ORDER_WRAPPED, .window = MIB_1 },
	{ .order = FAULT_ORDER_RANDOM, .window = KIB_128 },
	{ .order = FAULT_ORDER_RANDOM, .window = MIB_1 },
};

/* One access for each byte of the file, or fewer if all pages have been visited. -ENOMEM */
static int wrapped_order(uint32_t *order, uint64_t bytes, uint64_t *nr)
{
	struct bitmap *seen = bitmap_new(STUDY_PAGES);
	uint64_t offset = 0, pages = 0, i;

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < bytes && pages < STUDY_PAGES; i++) {
		if (bitmap_set(seen, offset / STUDY_PAGE))
			order[pages++] = offset / STUDY_PAGE;
		offset += STUDY_SWEEPS * STUDY_PAGE;
		if (offset >= bytes)
			offset -= bytes;
	}
	bitmap_free(seen);
	*nr = pages;
	return 0;
}

static uint64_t shuffled_order(uint32_t *order, uint64_t seed)
{
	struct random random = random_begin(seed, 0);
	uint32_t starts[STUDY_SWEEPS] = { 0 }, page;
	uint64_t pages = 0, other;
	unsigned int i;

	for (i = 0; i < STUDY_SWEEPS; i++) {
		random.bound = i + 1;
		other = random_below(&random);
		starts[i] = starts[other];
		starts[other] = i;
	}
	for (i = 0; i < STUDY_SWEEPS; i++)
		for (page = starts[i]; page < STUDY_PAGES; page += STUDY_SWEEPS)
			order[pages++] = page;
	return pages;
}

static int order_of_pattern(const char *text, uint64_t seed, uint32_t **order, uint64_t *pages)
{
	struct pattern pattern;
	int err = pattern_parse(&pattern, text);

	pattern.page_bytes = STUDY_PAGE;
	err = err ?: pattern_fit(&pattern, (uint64_t)STUDY_PAGES * STUDY_PAGE, 0, seed);
	return err ?: fault_experiment_order(&pattern, order, pages);
}

static int order_of_run(const struct fault_variation *variation, uint64_t run, uint32_t **order,
			uint64_t *pages)
{
	const uint64_t missing = run * (STUDY_PAGE / FAULT_LAST_PAGES);
	const uint64_t bytes = (uint64_t)STUDY_PAGES * STUDY_PAGE - missing;
	int err = 0;

	switch (variation->order) {
	case FAULT_ORDER_STEPPED:
		return order_of_pattern("stride:256K", 0, order, pages);
	case FAULT_ORDER_RANDOM:
		return order_of_pattern("random", run + 1, order, pages);
	default:
		break;
	}
	*order = calloc(STUDY_PAGES, sizeof(**order));
	if (!*order)
		return -ENOMEM;
	if (variation->order == FAULT_ORDER_WRAPPED)
		err = wrapped_order(*order, bytes, pages);
	else
		*pages = shuffled_order(*order, run + 1);
	if (err)
		free(*order);
	return err;
}

static void take_misses(struct fault_variation *variation, const struct fault_counts *counts)
{
	const uint64_t misses = counts->disk - counts->marks;

	if (!variation->runs || misses < variation->least)
		variation->least = misses;
	if (!variation->runs || misses > variation->most)
		variation->most = misses;
	variation->runs++;
}

static uint64_t variation_runs(enum fault_order order)
{
	return order == FAULT_ORDER_STEPPED ? 1 :
	       order == FAULT_ORDER_WRAPPED ? FAULT_LAST_PAGES :
					      FAULT_SEEDS;
}

int fault_variation_run(struct fault_variation *variation, const char *kernel)
{
	const struct readahead_rule rule = {
		.kernel = readahead_kernel_find(kernel),
		.window = variation->window,
		.hits_ignored = variation->hits_ignored,
	};
	struct fault_counts counts;
	uint32_t *order;
	uint64_t pages, run;
	int err = 0;

	for (run = 0; run < variation_runs(variation->order) && !err; run++) {
		err = order_of_run(variation, run, &order, &pages);
		if (err)
			break;
		/* The study's file was read whole. */
		if (pages == STUDY_PAGES) {
			err = fault_counts_simulate(&counts, &rule, STUDY_PAGES, false, order,
						    pages);
			if (!err)
				take_misses(variation, &counts);
		}
		free(order);
	}
	return err;
}
