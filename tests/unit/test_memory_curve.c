// SPDX-License-Identifier: GPL-2.0-only
/* The curve is compared with caches of larger sizes, with an LRU or a FIFO. */
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

enum policy { LRU, FIFO, NR_POLICIES };

/* A cache by brute force: the pages in memory, newest first. */
struct cache {
	unsigned int pages[MAX_PAGES];
	unsigned int nr, size;
	enum policy policy;
	bool seen[MAX_PAGES];
	uint64_t refaults;
};

struct access {
	bool hit, returned;
	int evicted; /* -1: none */
};

static struct access cache_access(struct cache *cache, unsigned int page)
{
	struct access access = { .evicted = -1 };
	unsigned int at;

	for (at = 0; at < cache->nr && cache->pages[at] != page; at++)
		;
	access.hit = at < cache->nr;
	access.returned = !access.hit && cache->seen[page];
	cache->refaults += access.returned;
	cache->seen[page] = true;
	if (access.hit && cache->policy == FIFO)
		return access;
	if (!access.hit && cache->nr == cache->size)
		access.evicted = cache->pages[--at];
	else if (!access.hit)
		cache->nr++;
	memmove(&cache->pages[1], cache->pages, at * sizeof(cache->pages[0]));
	cache->pages[0] = page;
	return access;
}

static struct memory_curve_page page_of(unsigned int index)
{
	return (struct memory_curve_page){ .dev = 8, .inode = inode, .index = index };
}

static void evict(unsigned int index)
{
	const struct memory_curve_page page = page_of(index);

	ck_assert_int_eq(memory_curve_evict(curve, &page), 0);
}

static void return_page(unsigned int index, uint64_t total_ns)
{
	const struct memory_curve_page page = page_of(index);

	memory_curve_return(curve, &page);
	if (total_ns)
		memory_curve_fault(curve, &page, total_ns);
}

static struct memory_curve_point point_of(uint64_t pages)
{
	struct memory_curve_point point = { .pages = pages };

	memory_curve_points(curve, &point, 1);
	return point;
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

enum pattern { LOOP, RANDOM, HOT_AND_COLD, SKEWED, NR_PATTERNS };

static unsigned int next_page(enum pattern pattern, unsigned int i, unsigned int nr,
			      uint64_t *state)
{
	const uint64_t value = random_next(state);
	const double unit = (double)(value >> 11) / (1ULL << 53);

	switch (pattern) {
	case LOOP:
		return i % nr;
	case SKEWED:
		return nr * unit * unit * unit;
	case HOT_AND_COLD:
		if (value % 10 < 8)
			return (value >> 8) % (nr / 5);
		return nr / 5 + (value >> 8) % (nr - nr / 5);
	default:
		return (value >> 8) % nr;
	}
}

/* One recording at the first size gives the curve. The other sizes are run. */
static void run_sizes(enum pattern pattern, enum policy policy, unsigned int nr,
		      unsigned int accesses, const unsigned int sizes[4], uint64_t refaults[4])
{
	struct cache *caches = calloc(4, sizeof(*caches));
	uint64_t state = inode + pattern;
	struct access access;
	unsigned int i, j, page;

	for (j = 0; j < 4; j++) {
		caches[j].size = sizes[j];
		caches[j].policy = policy;
	}
	for (i = 0; i < accesses; i++) {
		page = next_page(pattern, i, nr, &state);
		for (j = 1; j < 4; j++)
			cache_access(&caches[j], page);
		access = cache_access(&caches[0], page);
		/* In this order the rank does not count the page that makes room. */
		if (access.returned)
			return_page(page, 5);
		if (access.evicted >= 0)
			evict(access.evicted);
	}
	for (j = 0; j < 4; j++)
		refaults[j] = caches[j].refaults;
	free(caches);
}

TEST(test_an_lru_of_each_size_is_within_the_curve, .loops = NR_PATTERNS)
{
	/* At most 63 more pages: below 64 a distance is exact. */
	const unsigned int sizes[4] = { 57, 67, 86, 120 };
	struct memory_curve_point point;
	uint64_t refaults[4];
	double avoided;
	unsigned int i;

	run_sizes(_i, LRU, 125, 20000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_gt(figures.faults, 1000);
	ck_assert_uint_eq(figures.faults, refaults[0]);
	ck_assert_uint_eq(figures.total_ns, 5 * refaults[0]);
	ck_assert_uint_eq(figures.one_of, 1);
	ck_assert_int_eq(figures.is_regular, _i == LOOP);
	for (i = 1; i < 4; i++) {
		point = point_of(sizes[i] - sizes[0]);
		avoided = 1 - (double)refaults[i] / refaults[0];
		ck_assert_double_le(point.least.faults, avoided + 1e-9);
		ck_assert_double_ge(point.most.faults, avoided - 1e-9);
		ck_assert_double_le(fabs(point.most.faults - point.most.total_ns), 1e-9);
	}
}

/* The pages that are used often leave, too, and come back at once. */
TEST(test_a_fifo_of_each_size_is_near_the_curve, .loops = NR_PATTERNS)
{
	const unsigned int sizes[4] = { 350, 450, 550, 650 };
	struct memory_curve_point point;
	uint64_t refaults[4];
	double faults;
	unsigned int i;

	run_sizes(_i, FIFO, 1000, 100000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	for (i = 1; i < 4; i++) {
		point = point_of(sizes[i] - sizes[0]);
		faults = (double)refaults[i] / refaults[0];
		ck_assert_double_le(1 - point.most.faults, 1.06 * faults);
		ck_assert_double_ge(1 - point.least.faults, 0.94 * faults);
	}
}

TEST(test_loop_needs_all_of_its_pages)
{
	const unsigned int sizes[4] = { 20, 40, 56, 104 };
	uint64_t refaults[4];

	run_sizes(LOOP, LRU, 120, 2000, sizes, refaults);
	ck_assert_double_eq(point_of(99).least.faults, 0);
	ck_assert_double_eq(point_of(100).least.faults, 1);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.most_out, 100);
}

/* The kernel may keep such a page, and evict pages of the loop instead. */
TEST(test_loop_needs_memory_for_the_pages_that_never_return)
{
	const unsigned int sizes[4] = { 20, 40, 56, 104 };
	uint64_t refaults[4];
	unsigned int i;

	for (i = 0; i < 60; i++)
		evict(200 + i);
	run_sizes(LOOP, LRU, 120, 2000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.most_out, 160);
	ck_assert_double_eq(point_of(101).most.faults, 1);
	ck_assert_double_eq(point_of(159).least.faults, 0);
	ck_assert_double_eq(point_of(160).least.faults, 1);
}

/* The times out differ, but by less than if the uses were independent. */
TEST(test_disturbed_loop_may_need_all_of_its_pages)
{
	unsigned int pages[100], i, at, page;
	uint64_t state = 7;

	for (i = 0; i < 100; i++) {
		pages[i] = i;
		evict(i);
	}
	for (i = 0; i < 20000; i++) {
		/* One of the oldest 60 returns, and leaves at once as the newest. */
		at = random_next(&state) % 60;
		page = pages[at];
		return_page(page, 5);
		memmove(&pages[at], &pages[at + 1], (99 - at) * sizeof(pages[0]));
		pages[99] = page;
		evict(page);
	}
	memory_curve_figures(curve, &figures);
	ck_assert_int_eq(figures.is_regular, false);
	ck_assert_double_eq(point_of(99).least.faults, 0);
	ck_assert_double_ge(point_of(99).most.faults, 0.99);
	ck_assert_double_eq(point_of(100).least.faults, 1);
}

/* As 6.12 did, see tests/vm/test_memory_curve.py. */
TEST(test_loop_may_keep_pages_if_more_than_half_of_the_missing_memory_is_added)
{
	const unsigned int sizes[4] = { 20, 40, 56, 104 };
	uint64_t refaults[4];

	run_sizes(LOOP, LRU, 120, 2000, sizes, refaults);
	ck_assert_double_eq(point_of(50).most.faults, 0);
	ck_assert_double_eq(point_of(51).most.faults, 0.51);
	ck_assert_double_eq(point_of(99).most.faults, 0.99);
	ck_assert_double_eq(point_of(99).most.total_ns, 0.99);
}

/* Each loop has another sample: other pages, and another access order. */
TEST(test_sample_of_the_pages_estimates_the_shares, .loops = 20)
{
	/* At most 1024 of up to 4000 pages are kept. */
	const unsigned int sizes[4] = { 300, 1000, 2000, 3000 };
	struct memory_curve_point point;
	uint64_t refaults[4];
	double avoided;
	unsigned int i;

	memory_curve_free(curve);
	curve = memory_curve_new(1024);
	inode = 70 + _i;
	run_sizes(RANDOM, LRU, 4000, 60000, sizes, refaults);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_ge(figures.one_of, 4);
	ck_assert_uint_le(figures.sampled, 1024);
	for (i = 1; i < 4; i++) {
		point = point_of(sizes[i] - sizes[0]);
		avoided = 1 - (double)refaults[i] / refaults[0];
		ck_assert_double_le(point.least.faults, avoided + 0.06);
		ck_assert_double_ge(point.most.faults, avoided - 0.06);
	}
}

TEST(test_pages_of_an_ended_file_neither_return_nor_count)
{
	evict(1);
	inode++;
	evict(2);
	memory_curve_end_file(curve, 8, inode);
	return_page(2, 5);
	inode--;
	return_page(1, 5);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.faults, 1);
	ck_assert_double_eq(point_of(1).most.faults, 1);
}

TEST(test_page_evicted_twice_is_out_once)
{
	evict(1);
	evict(2);
	evict(1);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.most_out, 2);
	ck_assert_uint_eq(figures.evicted, 3);
	return_page(2, 5);
	ck_assert_double_eq(point_of(1).least.faults, 0);
	ck_assert_double_eq(point_of(2).most.faults, 1);
}

/* Read-ahead brings back pages without a fault waiting for them. */
TEST(test_page_that_no_fault_waits_for_returns_without_a_fault)
{
	evict(1);
	return_page(1, 0);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.returned, 1);
	ck_assert_uint_eq(figures.faults, 0);
}

TEST(test_nothing_returned_has_no_curve)
{
	evict(1);
	return_page(2, 5);
	memory_curve_figures(curve, &figures);
	ck_assert_uint_eq(figures.returned, 0);
	ck_assert_double_eq(point_of(90).most.faults, 0);
}
