// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of the kernel's read-ahead rule: each part of the rule by itself, and the counts from
 * the five experiments in tests/vm/test_experiments.py.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/faults/fault_experiments.h"
#include "bench/faults/fault_variations.h"
#include "runner.h"

#define PAGES  11264U
#define WINDOW 32U

static struct readahead_rule rule;
static struct readahead_state state;
static struct cached_file file;

static void open_rule(uint64_t pages, uint64_t window, const char *kernel)
{
	rule = (struct readahead_rule){ .kernel = readahead_kernel_find(kernel), .window = window };
	state = (struct readahead_state){ 0 };
	cached_file_open(&file, pages);
}

static void close_rule(void)
{
	ck_assert_int_eq(file.err, 0);
	cached_file_close(&file);
}

static enum fault_class fault_on(uint64_t page, bool code)
{
	return readahead_rule_fault(&rule, &file, &state,
				    &(struct readahead_access){
					    .page = page, .end = file.pages, .code = code });
}

static void check_faults(uint64_t first, uint64_t last, enum fault_class class)
{
	uint64_t page;

	for (page = first; page <= last; page++)
		ck_assert_msg(fault_on(page, false) == class, "page %lu is not of class %s", page,
			      fault_class_name(class));
}

TEST(test_miss_reads_around_itself)
{
	open_rule(PAGES, WINDOW, "6.12.118-amd64");
	check_faults(100, 100, FAULT_DISK);
	check_faults(84, 99, FAULT_LONG);
	check_faults(101, 107, FAULT_LONG);
	check_faults(108, 108, FAULT_READAHEAD);
	check_faults(109, 115, FAULT_LONG);
	check_faults(83, 83, FAULT_DISK);
	close_rule();
}

TEST(test_mark_submits_the_next_window)
{
	open_rule(PAGES, WINDOW, "6.12.118-amd64");
	check_faults(0, 0, FAULT_DISK);
	check_faults(24, 24, FAULT_READAHEAD);
	check_faults(33, 63, FAULT_LONG);
	check_faults(32, 32, FAULT_READAHEAD);
	check_faults(64, 64, FAULT_READAHEAD);
	check_faults(128, 128, FAULT_DISK);
	close_rule();
}

TEST(test_mark_of_an_earlier_window_continues_behind_the_cache)
{
	open_rule(PAGES, WINDOW, "6.12.118-amd64");
	check_faults(100, 100, FAULT_DISK);
	check_faults(1000, 1000, FAULT_DISK);
	check_faults(108, 108, FAULT_READAHEAD);
	/* 116 is the first page after page 100's window. */
	check_faults(116, 116, FAULT_READAHEAD);
	check_faults(117, 147, FAULT_LONG);
	close_rule();
}

/* A window of pages is cached behind the mark, so the search for a missing page ends. */
static void meet_mark_in_the_cache(const char *kernel, enum fault_class behind)
{
	open_rule(PAGES, WINDOW, kernel);
	check_faults(100, 100, FAULT_DISK);
	check_faults(132, 132, FAULT_DISK);
	check_faults(1000, 1000, FAULT_DISK);
	check_faults(108, 108, FAULT_READAHEAD);
	check_faults(148, 148, behind);
	close_rule();
}

TEST(test_cached_window_behind_a_mark_ends_the_search)
{
	meet_mark_in_the_cache("6.12.118-amd64", FAULT_DISK);
	meet_mark_in_the_cache("6.1.0-56-cloud-amd64", FAULT_LONG);
}

TEST(test_more_than_a_hundred_misses_read_single_pages)
{
	unsigned int i;

	open_rule(PAGES, WINDOW, "6.12.118-amd64");
	for (i = 1; i <= 101; i++)
		check_faults(100 * i, 100 * i, FAULT_DISK);
	check_faults(10101, 10101, FAULT_DISK);
	/* Three hits make the next miss read around itself again. */
	check_faults(101, 103, FAULT_LONG);
	check_faults(10201, 10201, FAULT_DISK);
	check_faults(10202, 10202, FAULT_LONG);
	close_rule();
}

TEST(test_no_read_ahead_reads_single_pages)
{
	open_rule(64, 0, "6.12.118-amd64");
	check_faults(0, 63, FAULT_DISK);
	close_rule();
}

TEST(test_window_is_cut_at_the_end_of_the_file)
{
	open_rule(110, WINDOW, "6.12.118-amd64");
	check_faults(100, 100, FAULT_DISK);
	check_faults(84, 99, FAULT_LONG);
	/* 8 of the 26 pages are ahead. */
	check_faults(102, 102, FAULT_READAHEAD);
	check_faults(103, 109, FAULT_LONG);
	close_rule();
}

TEST(test_code_is_read_from_the_miss_on_since_6_17)
{
	open_rule(PAGES, WINDOW, "6.16.1");
	ck_assert_int_eq(fault_on(100, true), FAULT_DISK);
	check_faults(84, 107, FAULT_LONG);
	close_rule();
	open_rule(PAGES, WINDOW, "6.17.0");
	ck_assert_int_eq(fault_on(100, true), FAULT_DISK);
	check_faults(101, 131, FAULT_LONG);
	check_faults(99, 99, FAULT_DISK);
	close_rule();
}

static void open_rule_with_folios(void)
{
	open_rule(PAGES, 8, "6.18.44");
	rule.large_folios = true;
}

TEST(test_windows_behind_marks_have_larger_folios)
{
	open_rule_with_folios();
	check_faults(100, 100, FAULT_DISK);
	check_faults(102, 102, FAULT_READAHEAD);
	ck_assert_uint_eq(cached_file_folio(&file, 103).pages, 1);
	ck_assert_uint_eq(cached_file_folio(&file, 105).pages, 4);
	ck_assert_uint_eq(cached_file_folio(&file, 111).first, 108);
	check_faults(104, 104, FAULT_READAHEAD);
	ck_assert_uint_eq(cached_file_folio(&file, 119).pages, 8);
	check_faults(112, 112, FAULT_READAHEAD);
	close_rule();
}

/*
 * Pages 104 to 111 are two folios of 4 pages, 112 is missing. The mark at 104 belongs to an earlier
 * window. The kernel counts the 8 cached pages from 105 on, so it takes 113 for the missing page:
 * too far for a window of 8 pages. Seen on Linux 6.18.
 */
TEST(test_mark_of_an_earlier_window_in_a_large_folio_ends_read_ahead)
{
	open_rule_with_folios();
	check_faults(100, 100, FAULT_DISK);
	check_faults(102, 102, FAULT_READAHEAD);
	check_faults(1000, 1000, FAULT_DISK);
	check_faults(104, 104, FAULT_READAHEAD);
	check_faults(112, 112, FAULT_DISK);
	close_rule();
}

/* Folios [106, 107] and [108, 111], with the mark at 106. Seen on Linux 6.18. */
TEST(test_mark_of_an_earlier_window_in_a_large_folio_leaves_a_hole)
{
	open_rule_with_folios();
	check_faults(102, 102, FAULT_DISK);
	check_faults(104, 104, FAULT_READAHEAD);
	check_faults(1000, 1000, FAULT_DISK);
	check_faults(106, 106, FAULT_READAHEAD);
	ck_assert(!cached_file_has(&file, 112));
	ck_assert(cached_file_has(&file, 113));
	ck_assert(cached_file_has(&file, 119));
	close_rule();
}

/* Two halves of a 64 MiB file, a page of each in turn. */
static unsigned int misses_of_two_streams(uint64_t window, bool large_folios)
{
	const uint64_t pages = 16384;
	unsigned int misses = 0;
	uint64_t page;

	open_rule(pages, window, "6.18.44");
	rule.large_folios = large_folios;
	for (page = 0; page < pages / 2; page++) {
		misses += fault_on(page, false) == FAULT_DISK;
		misses += fault_on(pages / 2 + page, false) == FAULT_DISK;
	}
	close_rule();
	return misses;
}

/* Major faults seen on Linux 6.18. Folios as large as a node of the xarray have no slots in it. */
TEST(test_large_folios_end_the_read_ahead_of_interleaved_streams)
{
	ck_assert_uint_eq(misses_of_two_streams(8, true), 1024);
	ck_assert_uint_eq(misses_of_two_streams(32, true), 171);
	ck_assert_uint_eq(misses_of_two_streams(128, true), 2);
	ck_assert_uint_eq(misses_of_two_streams(32, false), 2);
}

/* Folios [104, 107] and [108, 111], with the mark at 104. Seen on Linux 6.18. */
TEST(test_touch_behind_the_mark_ends_read_ahead)
{
	open_rule_with_folios();
	check_faults(100, 100, FAULT_DISK);
	check_faults(102, 102, FAULT_READAHEAD);
	check_faults(105, 105, FAULT_READAHEAD);
	check_faults(112, 112, FAULT_DISK);
	close_rule();
}

TEST(test_header_read_marks_the_second_page)
{
	open_rule(PAGES, WINDOW, "6.12.118-amd64");
	readahead_rule_read(&rule, &file, &state, 0, 1);
	ck_assert_uint_eq(file.nr_read, 4);
	check_faults(0, 0, FAULT_LONG);
	check_faults(1, 1, FAULT_READAHEAD);
	check_faults(4, 4, FAULT_READAHEAD);
	close_rule();
}

static void check_run(const char *pattern, const char *cache, const char *kernel, uint64_t disk,
		      uint64_t marks, uint64_t longs)
{
	struct fault_run run = {
		.environment = { .file_bytes = PAGES * 4096ULL,
				 .page_bytes = 4096,
				 .file_pages = PAGES,
				 .readahead_bytes = WINDOW * 4096,
				 .seed = 1 },
	};
	struct fault_counts counts;

	strcpy(run.environment.pattern, pattern);
	strcpy(run.environment.cache, cache);
	strcpy(run.environment.kernel, kernel);
	ck_assert_int_eq(fault_run_simulate(&run, &counts), 0);
	ck_assert_uint_eq(counts.disk, disk);
	ck_assert_uint_eq(counts.marks, marks);
	ck_assert_uint_eq(counts.longs, longs);
}

/* Figures from Documentation/studies.rst. */
TEST(test_five_experiments_are_predicted_exactly)
{
	check_run("random", "cold", "6.12.118-amd64", 5428, 260, 5836);
	check_run("random", "warm", "6.12.118-amd64", 0, 0, 11264);
	check_run("sequential", "cold", "6.12.118-amd64", 353, 352, 10911);
	check_run("stride:4K", "cold", "6.12.118-amd64", 353, 352, 10911);
	check_run("stride:256K", "cold", "6.12.118-amd64", 658, 354, 10606);
}

TEST(test_linux_6_1_reads_another_window)
{
	check_run("random", "cold", "6.1.0-56-cloud-amd64", 4945, 247, 6319);
	check_run("sequential", "cold", "6.1.0-56-cloud-amd64", 353, 352, 10911);
	check_run("stride:256K", "cold", "6.1.0-56-cloud-amd64", 660, 354, 10604);
	check_run("random", "cold", "5.15.0-204-generic", 4945, 247, 6319);
	check_run("stride:256K", "cold", "5.15.0-204-generic", 660, 354, 10604);
}

static void check_variation(size_t row, enum fault_order order, uint64_t least, uint64_t most)
{
	struct fault_variation variation = fault_variations[row];

	ck_assert_int_eq(fault_variation_run(&variation, "6.12.0"), 0);
	ck_assert_int_eq(variation.order, order);
	ck_assert_uint_eq(variation.least, least);
	ck_assert_uint_eq(variation.most, most);
}

TEST(test_order_of_sweeps_decides_the_misses)
{
	check_variation(0, FAULT_ORDER_STEPPED, 308, 308);
	check_variation(1, FAULT_ORDER_STEPPED, 5000, 5000);
	check_variation(2, FAULT_ORDER_SHUFFLED, 658, 8200);
	check_variation(3, FAULT_ORDER_WRAPPED, 2051, 8195);
	check_variation(4, FAULT_ORDER_WRAPPED, 1, 1);
	check_variation(5, FAULT_ORDER_RANDOM, 474, 6860);
	check_variation(6, FAULT_ORDER_RANDOM, 61, 68);
}

TEST(test_unknown_pattern_is_not_simulated)
{
	struct fault_run run = {
		.environment = { .pattern = "spiral", .file_bytes = 4096, .page_bytes = 4096 }
	};
	struct fault_counts counts;

	ck_assert_int_eq(fault_run_simulate(&run, &counts), -EINVAL);
}
