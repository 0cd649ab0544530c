// SPDX-License-Identifier: GPL-2.0-only
/* What became of the pages that were read. */
#include "random.h"
#include "runner.h"
#include "user/correlate/readahead.h"

static struct readahead *readahead;

static void read_pages(uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = inode, .pgoff = pgoff, .file_bytes = pages * 4096, .fs_dev = 1,
	};

	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
}

static void remove_pages(uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_page event = {
		.event = { .type = PFSTAT_EVENT_PAGE },
		.inode = inode, .pgoff = pgoff, .pages = pages, .dev = 1,
	};

	ck_assert_int_eq(readahead_remove_page(readahead, &event), 0);
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
	read_pages(5, 0, 32);
	check(32, 0, 0, 32);
	fault(5, 3, 0, 0, 0);
	fault(5, 3, 0, 0, 0);	/* again: it is counted once */
	check(32, 1, 0, 31);
	fault(5, 40, 0, 0, 0);	/* was in the cache before */
	fault(6, 4, 0, 0, 0);	/* another file's */
	check(32, 1, 0, 31);
	remove_pages(5, 0, 8);
	check(32, 1, 7, 24);
	read_pages(5, 3, 1);	/* read again, and used again */
	fault(5, 3, 0, 0, 0);
	check(33, 2, 7, 24);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_windows_and_folios)
{
	readahead = readahead_new();
	read_pages(5, 10, 20);
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
			read_pages(what >> 40 & 3, pgoff, 1 + (what >> 50 & 15));
		else if (what % 3 == 1)
			remove_pages(what >> 40 & 3, pgoff, 1 + (what >> 50 & 15));
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
		read_pages(i, 0, 1);
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read + figures.overflow, 5000);
	ck_assert_uint_gt(figures.overflow, 0);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_writes_errors_and_other_pages_are_not_read)
{
	struct pfstat_block block = {
		.event = { .flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_WRITE },
		.inode = 5, .file_bytes = 4096, .fs_dev = 1,
	};

	readahead = readahead_new();
	readahead_add_block(readahead, &block);
	block.event.flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_ERROR;
	readahead_add_block(readahead, &block);
	block.event.flags = PFSTAT_BLOCK_SWAP;
	readahead_add_block(readahead, &block);
	check(0, 0, 0, 0);
	block.event.flags = PFSTAT_BLOCK_FILE;
	block.file_bytes = 4097;	/* the file's end lies in the second page */
	readahead_add_block(readahead, &block);
	check(2, 0, 0, 2);
	readahead_free(readahead);
}
END_TEST

/* Two files' keys in the table are the same: dev << 40 ^ inode << 20 ^ chunk. */
START_TEST(test_files_of_one_key_are_apart_and_bounded)
{
	const uint64_t other = 5 ^ 1 << 20;	/* of device 0, as 5 of device 1 */
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = other, .file_bytes = 4096, .fs_dev = 0,
	};
	struct readahead_figures figures;
	uint64_t i;

	readahead = readahead_new();
	read_pages(5, 0, 1);
	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
	fault(5, 0, 0, 0, 0);
	check(2, 1, 0, 1);
	for (i = 0; i < 10000; i++) {	/* all of one key */
		block.inode = i << 20;
		block.fs_dev = i;
		readahead_add_block(readahead, &block);
	}
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read, 4096);
	ck_assert_uint_eq(figures.read + figures.overflow, 10002);
	readahead_free(readahead);
}
END_TEST

START_TEST(test_not_solved_maps_nothing)
{
	struct explained explained = { .inode = 5, .dev = 1, .pgoff = 3 };

	readahead = readahead_new();
	read_pages(5, 0, 32);
	ck_assert_int_eq(readahead_add_fault(readahead, &explained), 0);
	explained.solved = true;
	explained.inode = 0;	/* anonymous memory */
	ck_assert_int_eq(readahead_add_fault(readahead, &explained), 0);
	check(32, 0, 0, 32);
	readahead_free(readahead);
}
END_TEST

/* A window, and a file's pages, that lie in several chunks. */
START_TEST(test_across_chunks)
{
	readahead = readahead_new();
	read_pages(5, 8192 - 8, 16);
	read_pages(5, 5ULL << 32, 1);
	fault(5, 8192, 0, 4, 8);
	fault(5, 5ULL << 32, 0, 0, 0);
	check(17, 9, 0, 8);
	remove_pages(5, 8192 - 8, 16);
	check(17, 9, 8, 0);
	readahead_free(readahead);
}
END_TEST

RUN_TESTS("readahead", test_a_pages_life, test_windows_and_folios,
	  test_the_figures_always_add_up, test_more_than_is_kept_is_said,
	  test_writes_errors_and_other_pages_are_not_read,
	  test_files_of_one_key_are_apart_and_bounded, test_not_solved_maps_nothing,
	  test_across_chunks)
