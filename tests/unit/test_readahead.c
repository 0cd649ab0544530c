// SPDX-License-Identifier: GPL-2.0-only
/* The fate of pages read: mapped, evicted or unused. */
#include "random.h"
#include "runner.h"
#include "user/analyze/pages/readahead.h"

static struct readahead *readahead;

static void read_pages(uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = inode,
		.pgoff = pgoff,
		.file_bytes = pages * 4096,
		.fs_dev = 1,
		.bytes = pages * 4096,
	};

	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
}

static void remove_pages(uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_page event = {
		.event = { .type = PFSTAT_EVENT_PAGE },
		.inode = inode,
		.pgoff = pgoff,
		.pages = pages,
		.dev = 1,
	};

	ck_assert_int_eq(readahead_remove_page(readahead, &event), 0);
}

static void fault(uint64_t inode, uint64_t pgoff, uint8_t order, uint16_t before, uint16_t pages)
{
	const struct explained explained = {
		.inode = inode,
		.dev = 1,
		.pgoff = pgoff,
		.order = order,
		.solved = true,
		.around_before = before,
		.around_pages = pages,
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

TEST(test_page_is_counted_once_until_it_is_read_again)
{
	readahead = readahead_new(4096, READAHEAD_MEMORY);
	read_pages(5, 0, 32);
	check(32, 0, 0, 32);
	fault(5, 3, 0, 0, 0);
	fault(5, 3, 0, 0, 0); /* used again: counted once */
	check(32, 1, 0, 31);
	fault(5, 40, 0, 0, 0); /* was in the cache before */
	fault(6, 4, 0, 0, 0);  /* a page in another file */
	check(32, 1, 0, 31);
	remove_pages(5, 0, 8);
	check(32, 1, 7, 24);
	read_pages(5, 3, 1); /* read again, and used again */
	fault(5, 3, 0, 0, 0);
	check(33, 2, 7, 24);
	readahead_free(readahead);
}

TEST(test_fault_around_and_folios_use_several_pages)
{
	readahead = readahead_new(4096, READAHEAD_MEMORY);
	read_pages(5, 10, 20);
	/* Fault-around (16 pages from 0) maps the present pages. */
	fault(5, 12, 0, 12, 16);
	check(20, 6, 0, 14);
	/* An 8-page folio, 16 … 23. */
	fault(5, 19, 3, 0, 0);
	check(20, 14, 0, 6);
	readahead_free(readahead);
}

TEST(test_fates_add_up_to_the_pages_read)
{
	struct readahead_figures figures;
	uint64_t state = 7;
	int i;

	readahead = readahead_new(4096, READAHEAD_MEMORY);
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

TEST(test_files_beyond_the_limit_are_counted_as_overflow)
{
	struct readahead_figures figures;
	uint64_t i;

	readahead = readahead_new(4096, 64 << 10);
	for (i = 0; i < 5000; i++)
		read_pages(i, 0, 1);
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read + figures.overflow, 5000);
	ck_assert_uint_eq(figures.read, figures.idle);
	ck_assert_uint_gt(figures.overflow, 4000);
	fault(4999, 0, 0, 0, 0); /* the latest one is followed */
	fault(0, 0, 0, 0, 0);
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.mapped, 1);
	readahead_free(readahead);
}

TEST(test_small_files_and_large_ones_are_followed)
{
	struct readahead_figures figures;
	uint64_t i;

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	for (i = 0; i < 20000; i++)
		read_pages(1000 + i, 0, 1);
	for (i = 0; i < 1000; i++)
		read_pages(5, i * 8192 + i % 8192, 32);
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.overflow, 0);
	ck_assert_uint_eq(figures.read, 20000 + 32000);
	readahead_free(readahead);
}

/* Pages whose fate is known need no memory. */
TEST(test_mapped_pages_do_not_displace_idle_ones)
{
	uint64_t i;

	readahead = readahead_new(4096, 64 << 10);
	for (i = 0; i < 20; i++)
		read_pages(5, i * 8192, 100);
	for (i = 0; i < 5000; i++) {
		read_pages(100 + i, 0, 1);
		fault(100 + i, 0, 0, 0, 0);
	}
	check(20 * 100 + 5000, 5000, 0, 20 * 100);
	readahead_free(readahead);
}

TEST(test_writes_errors_and_other_pages_are_ignored)
{
	struct pfstat_block block = {
		.event = { .flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_WRITE },
		.inode = 5,
		.bytes = 8192,
		.file_bytes = 4096,
		.fs_dev = 1,
	};

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	readahead_add_block(readahead, &block);
	block.event.flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_ERROR;
	readahead_add_block(readahead, &block);
	block.event.flags = PFSTAT_BLOCK_SWAP;
	readahead_add_block(readahead, &block);
	check(0, 0, 0, 0);
	block.event.flags = PFSTAT_BLOCK_FILE;
	block.file_bytes = 4097; /* the file ends within the second page */
	readahead_add_block(readahead, &block);
	check(2, 0, 0, 2);
	readahead_free(readahead);
}

/* @at, @bytes: in a file with 16 KiB pages */
static void read_bytes(uint64_t at, uint32_t bytes)
{
	const uint32_t sector = at % 16384 / 512;
	const struct pfstat_block block = {
		.event.flags = PFSTAT_BLOCK_FILE | sector << PFSTAT_BLOCK_IN_PAGE_SHIFT,
		.inode = 5,
		.pgoff = at / 16384,
		.bytes = bytes,
		.file_bytes = bytes,
		.fs_dev = 1,
	};

	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
}

/* The file system has 4 KiB blocks. */
TEST(test_a_page_that_is_read_in_parts_is_counted_once)
{
	static const unsigned int orders[][4] = { { 0, 1, 2, 3 }, { 3, 1, 0, 2 } };
	unsigned int i, part;

	for (i = 0; i < 2; i++) {
		readahead = readahead_new(16384, READAHEAD_MEMORY);
		for (part = 0; part < 4; part++)
			read_bytes(orders[i][part] * 4096, 4096);
		check(1, 0, 0, 1);
		/* Two requests meet in page 3. */
		read_bytes(16384, 2 * 16384 + 8192);
		read_bytes(3 * 16384 + 8192, 8192 + 2 * 16384);
		check(6, 0, 0, 6);
		fault(5, 3, 0, 0, 0);
		check(6, 1, 0, 5);
		/* It is removed, and read again. */
		remove_pages(5, 3, 1);
		read_bytes(3 * 16384 + 12288, 4096);
		read_bytes(3 * 16384, 12288);
		check(7, 1, 0, 6);
		readahead_free(readahead);
	}
}

TEST(test_the_first_part_of_a_page_may_be_a_hole)
{
	readahead = readahead_new(16384, READAHEAD_MEMORY);
	read_bytes(4096, 4096);
	read_bytes(12288, 4096 + 16384);
	check(2, 0, 0, 2);
	/* A whole page read again was removed without an event. */
	read_bytes(16384, 16384);
	check(3, 0, 1, 2);
	readahead_free(readahead);
}

/* Both files have the same key with the weak hash dev << 40 ^ inode << 20 ^ chunk. */
TEST(test_files_with_equal_keys_are_separate_and_bounded)
{
	const uint64_t other = 5 ^ 1 << 20; /* on device 0, collides with inode 5 on device 1 */
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = other,
		.bytes = 4096,
		.file_bytes = 4096,
		.fs_dev = 0,
	};
	struct readahead_figures figures;
	uint64_t i;

	readahead = readahead_new(4096, 64 << 10);
	read_pages(5, 0, 1);
	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
	fault(5, 0, 0, 0, 0);
	check(2, 1, 0, 1);
	for (i = 0; i < 10000; i++) { /* all with the same key */
		block.inode = i << 20;
		block.fs_dev = i;
		readahead_add_block(readahead, &block);
	}
	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.read + figures.overflow, 10002);
	ck_assert_uint_gt(figures.overflow, 8000);
	readahead_free(readahead);
}

/* Page sums from the sink's calls, by fate. */
struct told {
	uint64_t calls, pages[READAHEAD_EVICTED + 1];
};

static int count_pages(void *context, const struct readahead_pages *pages)
{
	struct told *told = context;

	ck_assert_uint_gt(pages->pages, 0);
	ck_assert_uint_le(pages->pgoff % 8192 + pages->pages, 8192);
	told->calls++;
	told->pages[pages->fate] += pages->pages;
	return 0;
}

TEST(test_ranges_equal_the_sum_of_their_pages)
{
	static bool unused[4 << 14];
	struct readahead_figures figures;
	uint64_t state = 3, read = 0, mapped = 0, evicted = 0, what, file, pgoff, page;
	struct told told = { 0 };
	uint32_t pages, end;
	int i;

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	readahead_listen(readahead, count_pages, &told);
	for (i = 0; i < 3000; i++) {
		what = random_next(&state);
		file = what >> 8 & 3;
		pages = 1 + (what >> 10 & 0xfff) * (what >> 22 & 3);
		pgoff = what >> 24 & 0x3fff;
		end = pgoff + pages < 1 << 14 ? pgoff + pages : 1 << 14;
		for (page = pgoff; page < end; page++) {
			bool *bit = &unused[file << 14 | page];

			if (what % 3 == 0)
				read++;
			if (what % 3 < 2)
				evicted += *bit;
			else
				mapped += *bit;
			*bit = what % 3 == 0;
		}
		if (what % 3 == 0)
			read_pages(1 + file, pgoff, end - pgoff);
		else if (what % 3 == 1)
			remove_pages(1 + file, pgoff, end - pgoff);
		else
			fault(1 + file, pgoff, 0, 0, end - pgoff);
		readahead_figures(readahead, &figures);
		ck_assert_uint_eq(figures.read, read);
		ck_assert_uint_eq(figures.mapped, mapped);
		ck_assert_uint_eq(figures.evicted_unused, evicted);
	}
	ck_assert_uint_eq(told.pages[READAHEAD_READ], read);
	ck_assert_uint_eq(told.pages[READAHEAD_MAPPED], mapped);
	ck_assert_uint_eq(told.pages[READAHEAD_EVICTED], evicted);
	ck_assert_uint_gt(mapped, 100000);
	readahead_free(readahead);
}

TEST(test_the_sink_is_called_for_each_range)
{
	struct told told = { 0 };

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	readahead_listen(readahead, count_pages, &told);
	read_pages(5, 1, 1 << 18);
	ck_assert_uint_eq(told.calls, 33);
	remove_pages(5, 1, 1 << 18);
	ck_assert_uint_eq(told.calls, 66);
	ck_assert_uint_eq(told.pages[READAHEAD_EVICTED], 1 << 18);
	readahead_free(readahead);
}

/* In 32 bits, the sum of file_bytes and 4095 would wrap to at most 4094. */
TEST(test_a_request_of_almost_4_gib_does_not_overflow)
{
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = 5,
		.bytes = UINT32_MAX,
		.file_bytes = UINT32_MAX,
		.fs_dev = 1,
	};

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
	check(1 << 20, 0, 0, 1 << 20);
	readahead_free(readahead);
}

TEST(test_a_request_reads_no_more_than_its_bytes)
{
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = PFSTAT_BLOCK_FILE },
		.inode = 5,
		.bytes = 8192,
		.file_bytes = 1 << 30,
		.fs_dev = 1,
	};

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	ck_assert_int_eq(readahead_add_block(readahead, &block), 0);
	check(2, 0, 0, 2);
	readahead_free(readahead);
}

TEST(test_unsolved_fault_maps_nothing)
{
	struct explained explained = { .inode = 5, .dev = 1, .pgoff = 3 };

	readahead = readahead_new(4096, READAHEAD_MEMORY);
	read_pages(5, 0, 32);
	ck_assert_int_eq(readahead_add_fault(readahead, &explained), 0);
	explained.solved = true;
	explained.inode = 0; /* anonymous memory */
	ck_assert_int_eq(readahead_add_fault(readahead, &explained), 0);
	check(32, 0, 0, 32);
	readahead_free(readahead);
}

/* A window, and a file's pages, may span several chunks. */
TEST(test_ranges_may_cross_chunks)
{
	readahead = readahead_new(4096, READAHEAD_MEMORY);
	read_pages(5, 8192 - 8, 16);
	read_pages(5, 5ULL << 32, 1);
	fault(5, 8192, 0, 4, 8);
	fault(5, 5ULL << 32, 0, 0, 0);
	check(17, 9, 0, 8);
	remove_pages(5, 8192 - 8, 16);
	check(17, 9, 8, 0);
	readahead_free(readahead);
}

static void check_faulted(uint64_t read, uint64_t evicted)
{
	struct readahead_figures figures;

	readahead_figures(readahead, &figures);
	ck_assert_uint_eq(figures.faulted_read, read);
	ck_assert_uint_eq(figures.faulted_evicted, evicted);
}

TEST(test_files_that_no_fault_maps_are_apart)
{
	readahead = readahead_new(4096, READAHEAD_MEMORY);
	read_pages(1, 0, 100);
	remove_pages(1, 0, 10);
	read_pages(2, 0, 50);
	check_faulted(0, 0);
	fault(2, 7, 0, 0, 0);
	check_faulted(50, 0);
	read_pages(2, 50, 50);
	remove_pages(2, 50, 5);
	check_faulted(100, 5);
	/* A file's earlier pages count as soon as a fault maps one of these pages. */
	fault(1, 99, 0, 0, 0);
	check_faulted(200, 15);
	check(200, 2, 15, 183);
	readahead_free(readahead);
}
