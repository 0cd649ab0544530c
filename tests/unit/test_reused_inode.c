// SPDX-License-Identifier: GPL-2.0-only
/* A deleted file's inode belongs to a new file: the figures for the two files are separate. */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/analysis.h"
#include "user/analyze/groups/address_spaces.h"
#include "user/figures/calls.h"
#include "user/print/printers.h"

#define DEV   9
#define INODE 77
#define BASE  0x100000

static struct analysis *analysis;

static struct item_map *map_new(uint32_t generation, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.ns = 1,
		.address = BASE,
		.bytes = 1 << 30,
		.inode = INODE,
		.dev = DEV,
		.pid = 1,
		.tid = 1,
		.generation = generation,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	return map;
}

static void add_map(uint32_t generation, const char *path)
{
	struct item_map *map = map_new(generation, path);

	ck_assert_int_eq(analysis_add(analysis, &(struct item){ .type = ITEM_MAP, .map = map }), 0);
	free(map);
}

static void add_event(const struct pfstat_event *event)
{
	ck_assert_int_eq(analysis_add(analysis,
				      &(struct item){ .type = ITEM_EVENT, .event = event }),
			 0);
}

static void add_fault(uint32_t tid, uint64_t page, uint64_t start_ns, uint64_t duration_ns)
{
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_DISK,
		.pid = 1,
		.tid = tid,
		.inode = INODE,
		.dev = DEV,
		.pgoff = page,
		.address = BASE + page * 4096,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.result = PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_MAJOR,
	};

	ck_assert_int_eq(analysis_add(analysis,
				      &(struct item){ .type = ITEM_RECORD, .record = &record }),
			 0);
}

static void add_read(uint64_t page, uint32_t pages)
{
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .pid = 1, .tid = 1,
			.flags = PFSTAT_BLOCK_FILE, .ns = 10,
		},
		.inode = INODE, .fs_dev = DEV, .pgoff = page,
		.bytes = pages * 4096, .file_bytes = pages * 4096,
	};

	add_event(&block.event);
}

static void add_eviction(uint64_t page, uint32_t pages)
{
	const struct pfstat_page event = {
		.event = { .type = PFSTAT_EVENT_PAGE, .size = sizeof(event), .pid = 5, .tid = 5 },
		.inode = INODE,
		.dev = DEV,
		.pgoff = page,
		.pages = pages,
		.comm = "hog",
	};

	add_event(&event.event);
}

static void begin(void)
{
	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	ck_assert_ptr_nonnull(analysis);
}

static struct group *list_files(size_t expected)
{
	struct group *files;
	size_t nr;

	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_FILE, &files, &nr), 0);
	ck_assert_uint_eq(nr, expected);
	return files;
}

TEST(test_each_file_has_a_row_of_its_own)
{
	struct group *files;
	char *name;

	begin();
	add_map(1, "/data/old");
	add_fault(1, 0, 100, 30);
	add_fault(1, 1, 200, 30);
	add_map(2, "/data/new");
	add_fault(1, 0, 300, 5);
	files = list_files(2);
	ck_assert_str_eq(files[0].name, "/data/old");
	ck_assert_uint_eq(files[0].faults, 2);
	ck_assert_uint_eq(files[0].total_ns, 60);
	ck_assert_str_eq(files[1].name, "/data/new");
	ck_assert_uint_eq(files[1].faults, 1);
	ck_assert_uint_eq(files[1].total_ns, 5);
	ck_assert_uint_ne(files[0].number, files[1].number);
	/* Not an address. */
	ck_assert_uint_eq(files[0].address, 0);
	ck_assert_uint_eq(files[0].inode, INODE);
	name = analysis_file_name(analysis, DEV, INODE);
	ck_assert_str_eq(name, "/data/new");
	free(name);
	free(files);
	analysis_free(analysis);
}

/* Each row is written when the fault ends, so the row has the name valid at that time. */
TEST(test_rows_of_faults_have_the_name_of_their_file)
{
	char *text = NULL, *at;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	const struct missing_faults missing = { 0 };
	void *rows;

	begin();
	ck_assert_int_eq(csv_rows_printer.open(&rows, out, analysis), 0);
	ck_assert_int_eq(analysis_listen(analysis, csv_rows_printer.fault, rows), 0);
	add_map(1, "/data/old");
	add_fault(1, 0, 100, 30);
	add_map(2, "/data/new");
	add_fault(1, 0, 300, 5);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(csv_rows_printer.end(rows, &missing), 0);
	fclose(out);
	at = strstr(text, "/data/old");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(at, "/data/new"));
	free(text);
	analysis_free(analysis);
}

/* The page map has the pages of both files. */
TEST(test_a_figure_of_a_file_names_the_file_before)
{
	const struct call_place place = { .inode = INODE, .dev = DEV };
	struct report report;
	char *name;

	report_init(&report);
	begin();
	add_map(1, "/data/old");
	name = call_place_name(&place, &report, analysis);
	ck_assert_str_eq(name, "/data/old");
	free(name);
	add_map(2, "/data/new");
	name = call_place_name(&place, &report, analysis);
	ck_assert_str_eq(name, "/data/new and a deleted file with the same inode");
	free(name);
	analysis_free(analysis);
	report_exit(&report);
}

TEST(test_a_generation_that_is_not_known_is_no_change)
{
	struct group *files;

	begin();
	add_map(0, "/data"); /* from /proc/PID/maps */
	add_fault(1, 0, 100, 30);
	add_map(7, "/data");
	add_fault(1, 1, 200, 30);
	add_map(0, "/data");
	add_map(7, "/other name");
	add_fault(1, 2, 300, 30);
	files = list_files(1);
	ck_assert_uint_eq(files[0].faults, 3);
	ck_assert_str_eq(files[0].name, "/other name");
	free(files);
	analysis_free(analysis);
}

/* For the analysis, this thread is in the fault until it does something else. */
TEST(test_the_last_fault_of_another_thread_is_of_the_old_file)
{
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault),
			.flags = PFSTAT_FAULT_HOOKED, .pid = 1, .tid = 2, .ns = 150,
		},
		.start_ns = 100, .address = BASE, .inode = INODE, .dev = DEV,
		.outcome = PFSTAT_OUTCOME_MINOR,
	};
	struct group *files;

	begin();
	analysis_expect_spans(analysis, true);
	add_map(1, "/data/old");
	add_event(&fault.event);
	add_map(2, "/data/new");
	files = list_files(1);
	ck_assert_str_eq(files[0].name, "/data/old");
	ck_assert_uint_eq(files[0].total_ns, 50);
	free(files);
	analysis_free(analysis);
}

TEST(test_each_reuse_is_one_file_more)
{
	struct group *files;
	char path[16];
	uint32_t i;

	begin();
	for (i = 1; i <= 100; i++) {
		snprintf(path, sizeof(path), "/data/%u", i);
		add_map(i, path);
		add_fault(1, 0, 100 * i, i);
	}
	files = list_files(100);
	for (i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/data/%u", 100 - i);
		ck_assert_str_eq(files[i].name, path);
		ck_assert_uint_eq(files[i].total_ns, 100 - i);
	}
	free(files);
	analysis_free(analysis);
}

static void check_pages(uint64_t read, uint64_t mapped, uint64_t evicted, uint64_t idle)
{
	struct readahead_figures figures;

	analysis_readahead(analysis, &figures);
	ck_assert_uint_eq(figures.read, read);
	ck_assert_uint_eq(figures.mapped, mapped);
	ck_assert_uint_eq(figures.evicted_unused, evicted);
	ck_assert_uint_eq(figures.idle, idle);
	ck_assert_uint_eq(figures.overflow, 0);
}

/* A chunk has 8192 pages: with one of few pages all are visited, else each is looked up. */
static void check_fate(uint64_t first_page)
{
	begin();
	add_map(1, "/data/old");
	add_read(first_page, 32);
	add_fault(1, first_page, 100, 30);
	check_pages(32, 1, 0, 31);
	add_map(2, "/data/new");
	/* The old file's pages were never used. */
	check_pages(32, 1, 31, 0);
	add_fault(1, first_page + 1, 200, 30); /* for a page never read */
	check_pages(32, 1, 31, 0);
	add_read(first_page, 8);
	add_fault(1, first_page, 300, 30);
	check_pages(40, 2, 31, 7);
	analysis_free(analysis);
}

TEST(test_pages_that_were_read_are_those_of_one_file)
{
	check_fate(0);
	check_fate(100000);
}

TEST(test_a_page_of_the_new_file_does_not_come_back)
{
	struct evictions_figures figures;
	uint64_t page;

	for (page = 0; page < 200000; page += 100000) {
		begin();
		add_map(1, "/data/old");
		add_eviction(page, 10);
		add_read(page, 1);
		add_map(2, "/data/new");
		add_read(page, 10);
		add_fault(1, page, 100, 30);
		analysis_evictions(analysis, &figures);
		ck_assert_uint_eq(figures.evicted, 10);
		ck_assert_uint_eq(figures.again[EVICTIONS_UNKNOWN].pages, 1);
		ck_assert_uint_eq(figures.again[EVICTIONS_UNKNOWN].faults, 0);
		ck_assert_uint_eq(figures.overflow, 0);
		add_eviction(page, 10);
		add_read(page, 10);
		analysis_evictions(analysis, &figures);
		ck_assert_uint_eq(figures.again[EVICTIONS_UNKNOWN].pages, 11);
		analysis_free(analysis);
	}
}

static int see_map(void *context, const struct item *item)
{
	uint32_t *generation = context;

	*generation = item->map->generation;
	return 0;
}

/* A flight recorder begins again with the known mappings. */
TEST(test_mappings_are_passed_on_with_their_generation)
{
	struct spaces *spaces = address_spaces_new(4096);
	struct item_map *map = map_new(5, "/data");
	uint32_t generation = 0;

	ck_assert(!address_spaces_is_reused(spaces, map));
	ck_assert_int_eq(address_spaces_add_map(spaces, map), 0);
	ck_assert(!address_spaces_is_reused(spaces, map));
	ck_assert_int_eq(address_spaces_visit(spaces, see_map, &generation), 0);
	ck_assert_uint_eq(generation, 5);
	map->generation = 6;
	ck_assert(address_spaces_is_reused(spaces, map));
	map->dev++;
	ck_assert(!address_spaces_is_reused(spaces, map));
	free(map);
	address_spaces_free(spaces);
}

TEST(test_a_known_generation_is_never_0_and_differs_from_the_next)
{
	const uint32_t last = (1U << ITEM_MAP_GENERATION_BITS) - 1;
	uint64_t generation;

	ck_assert_uint_eq(item_generation(0), 0);
	for (generation = 1; generation < 1ULL << 32; generation += 9999991) {
		ck_assert_uint_ne(item_generation(generation), 0);
		ck_assert_uint_le(item_generation(generation), last);
		ck_assert_uint_ne(item_generation(generation), item_generation(generation + 1));
	}
	ck_assert_uint_ne(item_generation(last), 0);
	ck_assert_uint_ne(item_generation(UINT32_MAX), 0);
}
