// SPDX-License-Identifier: GPL-2.0-only
/* Evicted pages are joined with the processes reading them again. */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/pages/evictions.h"

#define DEV   8
#define INODE 70

static struct evictions *evictions;
static struct evictions_pair *pairs;
static size_t nr;

static void evict_for(uint32_t flags, uint32_t pid, const char *comm, uint64_t pgoff,
		      uint32_t pages)
{
	struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE, .flags = flags, .pid = pid, .tid = pid },
		.inode = INODE,
		.dev = DEV,
		.pgoff = pgoff,
		.pages = pages,
	};

	strcpy(page.comm, comm);
	ck_assert_int_eq(evictions_remove(evictions, &page), 0);
}

static void evict(uint32_t pid, const char *comm, uint64_t pgoff, uint32_t pages)
{
	evict_for(0, pid, comm, pgoff, pages);
}

static void read_pages(uint32_t pid, uint64_t pgoff, uint32_t pages, uint32_t flags)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .pid = pid, .flags = flags },
		.inode = INODE,
		.fs_dev = DEV,
		.pgoff = pgoff,
		.file_bytes = pages * 4096,
		.bytes = pages * 4096,
	};

	ck_assert_int_eq(evictions_add_read(evictions, &block), 0);
}

static void fault(uint32_t pid, uint64_t pgoff, int class, uint64_t duration_ns)
{
	const struct explained explained = {
		.pid = pid,
		.tid = pid,
		.inode = INODE,
		.dev = DEV,
		.pgoff = pgoff,
		.class = class,
		.start_ns = 100,
		.end_ns = 100 + duration_ns,
		.solved = true,
	};

	ck_assert_int_eq(evictions_add_fault(evictions, &explained), 0);
}

static void list(size_t expected)
{
	free(pairs);
	ck_assert_int_eq(evictions_pairs(evictions, &pairs, &nr), 0);
	ck_assert_uint_eq(nr, expected);
}

static void close_evictions(void)
{
	free(pairs);
	pairs = NULL;
	evictions_free(evictions);
}

TEST(test_refault_is_attributed_to_the_evictor)
{
	struct evictions_figures figures;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	evict(5, "hog", 10, 4);
	evict(6, "kswapd0", 14, 1);
	/* The first fault waits. The three pages that came with it are present; one reads on. */
	read_pages(1, 10, 5, PFSTAT_BLOCK_FILE);
	fault(1, 10, PFSTAT_CLASS_DISK, 1000);
	fault(1, 11, PFSTAT_CLASS_LONG, 7);
	fault(1, 12, PFSTAT_CLASS_READAHEAD, 7);
	fault(1, 14, PFSTAT_CLASS_WAIT, 300);
	list(2);
	ck_assert_uint_eq(pairs[0].evictor, 5);
	ck_assert_str_eq(pairs[0].evictor_name, "hog");
	ck_assert_uint_eq(pairs[0].victim, 1);
	ck_assert_uint_eq(pairs[0].pages, 4);
	ck_assert_uint_eq(pairs[0].faults, 2);
	ck_assert_uint_eq(pairs[0].total_ns, 1007);
	ck_assert_str_eq(pairs[1].evictor_name, "kswapd0");
	ck_assert_uint_eq(pairs[1].pages, 1);
	ck_assert_uint_eq(pairs[1].faults, 1);
	ck_assert_uint_eq(pairs[1].total_ns, 300);
	evictions_figures(evictions, &figures);
	ck_assert_uint_eq(figures.evicted, 5);
	ck_assert_uint_eq(figures.overflow, 0);
	close_evictions();
}

TEST(test_one_eviction_is_attributed_once)
{
	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	evict(5, "hog", 10, 1);
	read_pages(1, 10, 1, PFSTAT_BLOCK_FILE);
	read_pages(2, 10, 1, PFSTAT_BLOCK_FILE);
	fault(1, 10, PFSTAT_CLASS_DISK, 10);
	fault(2, 10, PFSTAT_CLASS_DISK, 10); /* read again already, so not evicted since */
	list(1);
	ck_assert_uint_eq(pairs[0].pages, 1);
	ck_assert_uint_eq(pairs[0].faults, 1);
	evict(5, "hog", 10, 1);
	read_pages(1, 10, 1, PFSTAT_BLOCK_FILE);
	list(1);
	ck_assert_uint_eq(pairs[0].pages, 2);
	close_evictions();
}

TEST(test_reads_without_an_eviction_are_not_refaults)
{
	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	/* Never evicted, then evicted and not read, then written, failed, without a file. */
	read_pages(1, 1, 1, PFSTAT_BLOCK_FILE);
	fault(1, 1, PFSTAT_CLASS_DISK, 10);
	evict(5, "hog", 2, 1);
	read_pages(1, 2, 1, PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_WRITE);
	read_pages(1, 2, 1, PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_ERROR);
	read_pages(1, 2, 1, 0);
	list(0);
	close_evictions();
}

static void check_sum(const struct evictions_sum *sum, uint64_t pages, uint64_t faults, uint64_t ns)
{
	ck_assert_uint_eq(sum->pages, pages);
	ck_assert_uint_eq(sum->faults, faults);
	ck_assert_uint_eq(sum->total_ns, ns);
}

TEST(test_reclaimed_and_dropped_pages_are_two_sums)
{
	struct evictions_figures figures;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	/* kswapd reclaims, a shell reclaims and drops, a process that was recorded long ago. */
	evict_for(PFSTAT_PAGE_RECLAIMED, 6, "kswapd0", 10, 3);
	evict_for(PFSTAT_PAGE_RECLAIMED, 7, "sh", 13, 2);
	evict_for(PFSTAT_PAGE_DROPPED, 7, "sh", 15, 4);
	evict(8, "old", 19, 1);
	read_pages(1, 10, 10, PFSTAT_BLOCK_FILE);
	fault(1, 10, PFSTAT_CLASS_DISK, 100);
	fault(1, 13, PFSTAT_CLASS_DISK, 30);
	fault(1, 15, PFSTAT_CLASS_WAIT, 7);
	fault(1, 16, PFSTAT_CLASS_WAIT, 9);
	list(4);
	ck_assert_uint_eq(pairs[0].evictor, 7);
	ck_assert_int_eq(pairs[0].reason, EVICTIONS_DROPPED);
	ck_assert_uint_eq(pairs[0].faults, 2);
	ck_assert_uint_eq(pairs[0].total_ns, 16);
	ck_assert_int_eq(pairs[1].reason, EVICTIONS_RECLAIMED);
	ck_assert_uint_eq(pairs[1].evictor, 6);
	ck_assert_int_eq(pairs[2].reason, EVICTIONS_RECLAIMED);
	ck_assert_uint_eq(pairs[2].evictor, 7);
	ck_assert_int_eq(pairs[3].reason, EVICTIONS_UNKNOWN);
	evictions_figures(evictions, &figures);
	check_sum(&figures.again[EVICTIONS_RECLAIMED], 5, 2, 130);
	check_sum(&figures.again[EVICTIONS_DROPPED], 4, 2, 16);
	check_sum(&figures.again[EVICTIONS_UNKNOWN], 1, 0, 0);
	close_evictions();
}

/* Read-ahead brings most pages, and each fault that meets its mark submits the next read. */
TEST(test_faults_that_read_on_from_a_returned_page_have_its_time)
{
	evictions = evictions_new(4096, 1 << 20);
	evict_for(PFSTAT_PAGE_DROPPED, 30, "backup", 0, 32);
	read_pages(7, 0, 32, PFSTAT_BLOCK_FILE);
	fault(7, 0, FAULT_DISK, 1000);
	fault(7, 8, FAULT_READAHEAD, 300);
	fault(7, 9, FAULT_AROUND, 50);
	read_pages(7, 32, 32, PFSTAT_BLOCK_FILE);
	fault(7, 40, FAULT_READAHEAD, 300); /* was never there before */
	list(1);
	ck_assert_uint_eq(pairs[0].pages, 32);
	ck_assert_uint_eq(pairs[0].faults, 2);
	ck_assert_uint_eq(pairs[0].total_ns, 1300);
	close_evictions();
}

TEST(test_the_rest_keeps_its_reason)
{
	struct evictions_figures figures;
	uint32_t i;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < EVICTIONS_MAX_PAIRS + 10; i++) {
		evict_for(i % 2 ? PFSTAT_PAGE_DROPPED : PFSTAT_PAGE_RECLAIMED, 5, "hog", i, 1);
		read_pages(1000 + i, i, 1, PFSTAT_BLOCK_FILE);
	}
	list(EVICTIONS_MAX_PAIRS / 2 + 12);
	ck_assert(evictions_is_others(&pairs[0]) && evictions_is_others(&pairs[1]));
	ck_assert_int_eq(pairs[0].reason, EVICTIONS_RECLAIMED);
	ck_assert_uint_eq(pairs[0].pages, EVICTIONS_MAX_PAIRS / 4);
	ck_assert_int_eq(pairs[1].reason, EVICTIONS_DROPPED);
	ck_assert_uint_eq(pairs[1].pages, EVICTIONS_MAX_PAIRS / 4);
	evictions_figures(evictions, &figures);
	check_sum(&figures.again[EVICTIONS_RECLAIMED], EVICTIONS_MAX_PAIRS / 2 + 5, 0, 0);
	check_sum(&figures.again[EVICTIONS_DROPPED], EVICTIONS_MAX_PAIRS / 2 + 5, 0, 0);
	close_evictions();
}

TEST(test_evictors_beyond_the_limit_are_summed_as_others)
{
	uint64_t pages = 0;
	uint32_t i;
	size_t at;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < EVICTIONS_MAX_EVICTORS + 10; i++)
		evict(100 + i, "hog", i, 1);
	for (i = 0; i < EVICTIONS_MAX_EVICTORS + 10; i++)
		read_pages(1, i, 1, PFSTAT_BLOCK_FILE);
	list(EVICTIONS_MAX_EVICTORS / 2 + 11);
	for (at = 0; at < nr; at++)
		pages += pairs[at].pages;
	ck_assert_uint_eq(pages, EVICTIONS_MAX_EVICTORS + 10);
	ck_assert_str_eq(pairs[0].evictor_name, "(others)");
	ck_assert_uint_eq(pairs[0].victim, 1);
	ck_assert_uint_eq(pairs[0].pages, EVICTIONS_MAX_EVICTORS / 2);
	ck_assert(evictions_is_others(&pairs[0]));
	ck_assert(!evictions_is_others(&pairs[1]));
	close_evictions();
}

/* Each of many short processes evicts a page. Then one evicts much. */
TEST(test_late_evictor_with_many_pages_is_named)
{
	uint64_t pages = 0;
	uint32_t i;
	size_t at;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < 5 * EVICTIONS_MAX_EVICTORS; i++) {
		evict(100 + i, "short", i, 1);
		read_pages(1, i, 1, PFSTAT_BLOCK_FILE);
		if (i % 100 == 99) {
			evict(9, "hog", 1 << 20, 100);
			read_pages(2, 1 << 20, 100, PFSTAT_BLOCK_FILE);
		}
	}
	free(pairs);
	ck_assert_int_eq(evictions_pairs(evictions, &pairs, &nr), 0);
	for (at = 0; at < nr; at++)
		pages += pairs[at].pages;
	ck_assert_uint_eq(pages, 5 * EVICTIONS_MAX_EVICTORS * 2 - 20);
	for (at = 0; at < nr && pairs[at].evictor != 9; at++)
		;
	ck_assert_uint_lt(at, 2);
	ck_assert_str_eq(pairs[at].evictor_name, "hog");
	ck_assert_uint_eq(pairs[at].victim, 2);
	ck_assert_uint_eq(pairs[at].pages, 5 * EVICTIONS_MAX_EVICTORS - 20);
	close_evictions();
}

TEST(test_pairs_beyond_the_limit_are_summed_as_others)
{
	uint64_t pages = 0;
	uint32_t i;
	size_t at;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < EVICTIONS_MAX_PAIRS + 10; i++) {
		evict(5, "hog", i, 1);
		read_pages(1000 + i, i, 1, PFSTAT_BLOCK_FILE);
	}
	evict(5, "hog", 0, 1000);
	read_pages(999, 0, 1000, PFSTAT_BLOCK_FILE);
	list(EVICTIONS_MAX_PAIRS / 2 + 12);
	for (at = 0; at < nr; at++)
		pages += pairs[at].pages;
	ck_assert_uint_eq(pages, EVICTIONS_MAX_PAIRS + 1010);
	ck_assert_uint_eq(pairs[1].victim, 999);
	/* "(others)" is not a process, and so never a victim of itself. */
	ck_assert_str_eq(pairs[0].evictor_name, "(others)");
	ck_assert_uint_eq(pairs[0].victim, 0);
	ck_assert(evictions_is_others(&pairs[0]));
	ck_assert(!evictions_is_itself(&pairs[0]));
	close_evictions();
}

static void evict_of_file(uint64_t inode, uint64_t pgoff, uint32_t pages)
{
	const struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE, .pid = 5, .tid = 5 },
		.comm = "hog",
		.inode = inode,
		.dev = DEV,
		.pgoff = pgoff,
		.pages = pages,
	};

	ck_assert_int_eq(evictions_remove(evictions, &page), 0);
}

static uint64_t overflow(void)
{
	struct evictions_figures figures;

	evictions_figures(evictions, &figures);
	return figures.overflow;
}

/* 400 GiB, evicted in 8 MiB pieces. Then a few pages in each piece are read again. */
TEST(test_evictions_of_a_large_file_are_remembered)
{
	uint64_t i;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < 51200; i++)
		evict(5, "hog", i * 2048, 2048);
	for (i = 0; i < 51200; i++) {
		read_pages(1, i * 2048 + 77, 2, PFSTAT_BLOCK_FILE);
		fault(1, i * 2048 + 77, PFSTAT_CLASS_DISK, 100);
	}
	ck_assert_uint_eq(overflow(), 0);
	list(1);
	ck_assert_uint_eq(pairs[0].pages, 2 * 51200);
	ck_assert_uint_eq(pairs[0].faults, 51200);
	close_evictions();
}

TEST(test_small_files_take_little_memory)
{
	uint64_t i;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < 50000; i++)
		evict_of_file(100 + i, 0, 1);
	ck_assert_uint_eq(overflow(), 0);
	close_evictions();
}

TEST(test_oldest_evictions_are_dropped_and_counted)
{
	struct evictions_figures figures;
	uint64_t i;

	evictions = evictions_new(4096, 64 << 10);
	for (i = 0; i < 5000; i++)
		evict(5, "hog", i * 2048, 3);
	evictions_figures(evictions, &figures);
	ck_assert_uint_eq(figures.evicted, 15000);
	ck_assert_uint_gt(figures.overflow, 12000);
	ck_assert_uint_lt(figures.overflow, 15000);
	ck_assert_uint_eq(figures.overflow % 3, 0);
	for (i = 0; i < 5000; i++)
		read_pages(1, i * 2048, 3, PFSTAT_BLOCK_FILE);
	list(1);
	ck_assert_uint_eq(pairs[0].pages, 15000 - figures.overflow);
	close_evictions();
}

/* Pages that were read again need no memory, so the others are kept. */
TEST(test_settled_pieces_are_dropped_first)
{
	uint64_t i;

	evictions = evictions_new(4096, 64 << 10);
	for (i = 0; i < 100; i++)
		evict(5, "hog", i * 2048, 2048);
	for (i = 1000; i < 6000; i++) {
		evict(5, "hog", i * 2048, 1);
		read_pages(1, i * 2048, 1, PFSTAT_BLOCK_FILE);
		fault(1, i * 2048, PFSTAT_CLASS_DISK, 100);
	}
	ck_assert_uint_eq(overflow(), 0);
	for (i = 0; i < 100; i++)
		read_pages(2, i * 2048, 2048, PFSTAT_BLOCK_FILE);
	list(2);
	ck_assert_uint_eq(pairs[0].victim, 2);
	ck_assert_uint_eq(pairs[0].pages, 100 * 2048);
	ck_assert_uint_eq(pairs[1].pages, 5000);
	ck_assert_uint_eq(pairs[1].faults, 5000);
	close_evictions();
}

/* Page ranges are compared with a mark for each page. */
TEST(test_ranges_equal_the_sum_of_their_pages)
{
	static uint8_t evictor[1 << 14]; /* 0: not evicted, or read again since */
	uint64_t expected[4] = { 0 }, found[4] = { 0 }, what, pgoff, page, state = 5;
	uint32_t pages;
	size_t at;
	int i;

	evictions = evictions_new(4096, EVICTIONS_MEMORY);
	for (i = 0; i < 3000; i++) {
		what = random_next(&state);
		pgoff = what >> 24 & 0x1fff;
		if (what % 5 == 0)
			pgoff &= ~2047ULL;
		pages = what % 5 == 0 ? 4096 : 1 + (what >> 40 & 0xfff);
		if (what % 2)
			evict(1 + what % 3, "hog", pgoff, pages);
		else
			read_pages(9, pgoff, pages, PFSTAT_BLOCK_FILE);
		for (page = pgoff; page < pgoff + pages; page++) {
			if (what % 2 == 0)
				expected[evictor[page]]++;
			evictor[page] = what % 2 ? 1 + what % 3 : 0;
		}
	}
	expected[0] = 0;
	list(3);
	for (at = 0; at < nr; at++)
		found[pairs[at].evictor] = pairs[at].pages;
	ck_assert_mem_eq(found, expected, sizeof(found));
	close_evictions();
}
