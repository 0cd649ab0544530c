// SPDX-License-Identifier: GPL-2.0-only
/* What became of the pages that were read. */
#include "random.h"
#include "runner.h"
#include "user/correlate/readahead.h"

static struct readahead *readahead;

static void page(uint32_t flags, uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_page event = {
		.event = { .type = PFSTAT_EVENT_PAGE, .flags = flags },
		.inode = inode, .pgoff = pgoff, .pages = pages, .dev = 1,
	};

	ck_assert_int_eq(readahead_add_page(readahead, &event), 0);
}

static void fault(uint64_t inode, uint64_t pgoff, uint8_t order, uint16_t before, uint16_t pages)
{
	const struct explained explained = {
		.inode = inode, .dev = 1, .pgoff = pgoff, .order = order, .solved = true,
		.around_before = before, .around_pages = pages,
	};

	ck_assert_int_eq(readahead_add_fault(readahead, &explained), 0);
}

static void check(uint64_t read, uint64_t mapped, uint64_t evicted, uint64_t idle)
{
	struct readahead_figures figures;

	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read, read);
	ck_assert_uint_eq(figures.mapped, mapped);
	ck_assert_uint_eq(figures.evicted_unused, evicted);
	ck_assert_uint_eq(figures.idle, idle);
	ck_assert_uint_eq(figures.overflow, 0);
}

START_TEST(test_a_pages_life)
{
	readahead = readahead_new();
	page(PFSTAT_PAGE_ADDED, 5, 0, 32);
	check(32, 0, 0, 32);
	fault(5, 3, 0, 0, 0);
	fault(5, 3, 0, 0, 0);	/* again: it is counted once */
	check(32, 1, 0, 31);
	fault(5, 40, 0, 0, 0);	/* was in the cache before */
	fault(6, 4, 0, 0, 0);	/* another file's */
	check(32, 1, 0, 31);
	page(PFSTAT_PAGE_REMOVED, 5, 0, 8);
	check(32, 1, 7, 24);
	page(PFSTAT_PAGE_ADDED, 5, 3, 1);	/* read again, and used again */
	fault(5, 3, 0, 0, 0);
	check(33, 2, 7, 24);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_windows_and_folios)
{
	readahead = readahead_new();
	page(PFSTAT_PAGE_ADDED, 5, 10, 20);
	/* Fault-around of 16 pages from 0: it maps those of them that are there. */
	fault(5, 12, 0, 12, 16);
	check(20, 6, 0, 14);
	/* A folio of 8 pages, 16 … 23. */
	fault(5, 19, 3, 0, 0);
	check(20, 14, 0, 6);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_the_figures_always_add_up)
{
	struct readahead_figures figures;
	uint64_t state = 7;
	int i;

	readahead = readahead_new();
	for (i = 0; i < 100000; i++) {
		uint64_t what = random_next(&state), pgoff = what >> 8 & 0xffff;

		if (what % 3 == 0)
			page(PFSTAT_PAGE_ADDED, what >> 40 & 3, pgoff, 1 + (what >> 50 & 15));
		else if (what % 3 == 1)
			page(PFSTAT_PAGE_REMOVED, what >> 40 & 3, pgoff, 1 + (what >> 50 & 15));
		else
			fault(what >> 40 & 3, pgoff, what >> 60 & 3, 0, 0);
		readahead_figures(readahead, &figures);
		ck_assert_uint_eq(figures.read,
				  figures.mapped + figures.evicted_unused + figures.idle);
	}
	ck_assert_uint_gt(figures.mapped, 1000);
	ck_assert_uint_gt(figures.evicted_unused, 1000);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_more_than_is_kept_is_said)
{
	struct readahead_figures figures;
	uint64_t i;

	readahead = readahead_new();
	for (i = 0; i < 5000; i++)
		page(PFSTAT_PAGE_ADDED, i, 0, 1);
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read + figures.overflow, 5000);
	ck_assert_uint_gt(figures.overflow, 0);
	readahead_free(readahead);
}
END_TEST

RUN_TESTS("readahead", test_a_pages_life, test_windows_and_folios,
	  test_the_figures_always_add_up, test_more_than_is_kept_is_said)
