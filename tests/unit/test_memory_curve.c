// SPDX-License-Identifier: GPL-2.0-only
/* The curve of the pages that are out is that of a model which runs an LRU of each size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/pages/memory_curve.h"

#define MAX_PAGES 8192U

static struct memory_curve *curve;
static unsigned int inode = 70;
static struct memory_curve_figures figures;

/* An LRU by brute force: the pages in memory, newest first. */
struct lru {
	unsigned int pages[MAX_PAGES];
	unsigned int nr, size;
	bool seen[MAX_PAGES];
	uint64_t refaults;
};

/* Returns the evicted page, or -1. Sets *returned if the page was in memory before. */
static int lru_access(struct lru *lru, unsigned int page, bool *returned)
{
	unsigned int at;
	int evicted = -1;

	for (at = 0; at < lru->nr && lru->pages[at] != page; at++)
		;
	*returned = at == lru->nr && lru->seen[page];
	lru->refaults += *returned;
	lru->seen[page] = true;
	if (at == lru->nr && lru->nr == lru->size)
		evicted = lru->pages[--at];
	else if (at == lru->nr)
		lru->nr++;
	memmove(&lru->pages[1], lru->pages, at * sizeof(lru->pages[0]));
	lru->pages[0] = page;
	return evicted;
}

static struct memory_curve_page page_of(unsigned int index)
{
	return (struct memory_curve_page){ .space = 8, .inode = inode, .index = index };
}

static void evict(unsigned int index)
{
	const struct memory_curve_page page = page_of(index);

	ck_assert_int_eq(memory_curve_evict(curve, &page), 0);
}

static void return_page(unsigned int index, uint64_t ns)
{
	const struct memory_curve_page page = page_of(index);

	memory_curve_return(curve, &page, ns);
}

static void open_curve(void)
{
	curve = memory_curve_new(MAX_PAGES);
}

static void close_curve(void)
{
	memory_curve_free(curve);
}

FIXTURE(open_curve, close_curve);

enum pattern { LOOP, RANDOM, HOT_AND_COLD, NR_PATTERNS };

static unsigned int next_page(enum pattern pattern, unsigned int i, unsigned int nr,
			      uint64_t *state)
{
	const uint64_t value = random_next(state);

	if (pattern == LOOP)
		return i % nr;
	if (pattern == HOT_AND_COLD && value % 10 < 8)
		return (value >> 8) % (nr / 5);
	return (value >> 8) % nr;
}

/* One recording at the first of the sizes gives the curve; the others are run. */
static void run_sizes(enum pattern pattern, unsigned int nr, unsigned int accesses,
		      const unsigned int sizes[4], uint64_t refaults[4])
{
	struct lru *lru = calloc(4, sizeof(*lru));
	uint64_t state = inode + pattern;
	unsigned int i, j, page;
	bool returned;
	int evicted;

	for (j = 0; j < 4; j++)
		lru[j].size = sizes[j];
	for (i = 0; i < accesses; i++) {
		page = next_page(pattern, i, nr, &state);
		for (j = 1; j < 4; j++)
			lru_access(&lru[j], page, &returned);
		evicted = lru_access(&lru[0], page, &returned);
		/* In this order the rank does not count the page that makes room. */
		if (returned)
			return_page(page, 5);
		if (evicted >= 0)
			evict(evicted);
	}
	for (j = 0; j < 4; j++)
		refaults[j] = lru[j].refaults;
	free(lru);
}

TEST(test_curve_is_that_of_an_lru_of_each_size, .loops = NR_PATTERNS)
{
	/* At most 84 more pages: below 128 a distance is exact. */
	const unsigned int sizes[4] = { 20, 40, 56, 104 };
	struct memory_curve_sum avoided;
	uint64_t refaults[4];
	unsigned int i;

	run_sizes(_i, 120, 20000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_gt(figures.all.returns, 1000);
	ck_assert_uint_eq(figures.all.returns, refaults[0]);
	ck_assert_uint_eq(figures.all.total_ns, 5 * refaults[0]);
	ck_assert_uint_eq(figures.one_of, 1);
	for (i = 1; i < 4; i++) {
		avoided = memory_curve_avoided(curve, sizes[i] - sizes[0]);
		ck_assert_uint_eq(figures.all.returns - avoided.returns, refaults[i]);
		ck_assert_uint_eq(avoided.total_ns, 5 * avoided.returns);
	}
}

TEST(test_loop_needs_all_of_its_pages)
{
	const unsigned int sizes[4] = { 20, 40, 56, 104 };
	uint64_t refaults[4];

	run_sizes(LOOP, 120, 2000, sizes, refaults);
	ck_assert_uint_eq(memory_curve_pages(curve, 1), 100);
	ck_assert_uint_eq(memory_curve_pages(curve, 100), 100);
	ck_assert_uint_eq(memory_curve_avoided(curve, 99).returns, 0);
}

/* Each loop has another sample: other pages, and another order of accesses. */
TEST(test_sample_of_the_pages_estimates_the_shares, .loops = 20)
{
	/* At most 1024 of up to 3700 pages are kept. */
	const unsigned int sizes[4] = { 300, 1000, 2000, 3000 };
	uint64_t refaults[4];
	double share;
	unsigned int i;

	memory_curve_free(curve);
	curve = memory_curve_new(1024);
	inode = 70 + _i;
	run_sizes(RANDOM, 4000, 60000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_ge(figures.one_of, 4);
	ck_assert_uint_le(figures.out, 1024);
	ck_assert_uint_lt(figures.observed, refaults[0]);
	for (i = 1; i < 4; i++) {
		share = (double)memory_curve_avoided(curve, sizes[i] - sizes[0]).returns /
			figures.all.returns;
		ck_assert_double_lt(fabs(share - 1 + (double)refaults[i] / refaults[0]), 0.06);
	}
}

TEST(test_forgotten_page_neither_returns_nor_counts)
{
	const struct memory_curve_page gone = page_of(2);

	evict(1);
	evict(2);
	memory_curve_forget(curve, &gone);
	return_page(2, 5);
	return_page(1, 5);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.all.returns, 1);
	ck_assert_uint_eq(memory_curve_pages(curve, 100), 1);
}

TEST(test_page_evicted_twice_is_out_once)
{
	evict(1);
	evict(2);
	evict(1);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.out, 2);
	return_page(2, 0);
	ck_assert_uint_eq(memory_curve_pages(curve, 100), 2);
}

TEST(test_nothing_returned_has_no_curve)
{
	evict(1);
	return_page(2, 5);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.all.returns, 0);
	ck_assert_uint_eq(memory_curve_pages(curve, 90), 0);
}
