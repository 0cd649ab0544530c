// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings are not trusted: a few kilobytes must not cost minutes. Each test runs under a CPU
 * time limit that normal work stays far below, even under sanitizers.
 */
#include <string.h>
#include <sys/resource.h>

#include "runner.h"
#include "user/analyze/analysis.h"
#include "user/analyze/groups/address_spaces.h"
#include "user/util/hash.h"
#include "user/figures/figures.h"

#define CPU_SECONDS 10
#define DEV	    1
#define INODE	    7

static struct analysis *analysis;
static struct figures figures;

static void begin(unsigned int groups)
{
	const struct rlimit limit = { CPU_SECONDS, CPU_SECONDS };

	ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
	analysis = analysis_new(true, 4096, groups);
	ck_assert_ptr_nonnull(analysis);
	ck_assert_int_eq(figures_open(&figures, analysis), 0);
}

static void add(enum item_type type, const void *data, uint64_t ns)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	ck_assert_int_eq(figures_item(&figures, &item), 0);
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void end(void)
{
	ck_assert_int_eq(analysis_finish(analysis), 0);
	figures_close(&figures);
	analysis_free(analysis);
}

static void read_range(uint64_t pgoff, uint32_t bytes, uint32_t file_bytes, uint64_t ns)
{
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .pid = 1, .tid = 1,
			.flags = PFSTAT_BLOCK_FILE, .ns = ns,
		},
		.insert_ns = ns, .issue_ns = ns, .inode = INODE, .fs_dev = DEV, .pgoff = pgoff,
		.bytes = bytes, .file_bytes = file_bytes,
	};

	add(ITEM_EVENT, &block, ns);
}

static void evict_range(uint64_t pgoff, uint32_t pages, uint64_t ns)
{
	const struct pfstat_page page = {
		.event = {
			.type = PFSTAT_EVENT_PAGE, .size = sizeof(page),
			.flags = PFSTAT_PAGE_RECLAIMED, .pid = 2, .tid = 2, .ns = ns,
		},
		.inode = INODE, .pgoff = pgoff, .dev = DEV, .pages = pages, .comm = "hog",
	};

	add(ITEM_EVENT, &page, ns);
}

TEST(test_evictions_of_a_gigabyte_each_are_cheap)
{
	struct evictions_figures evictions;
	uint64_t i;

	begin(0);
	for (i = 0; i < 60000; i++)
		evict_range(0, 1 << 18, 1000 + i);
	analysis_evictions(analysis, &evictions);
	ck_assert_uint_eq(evictions.evicted, 60000ULL << 18);
	end();
}

TEST(test_reads_with_more_pages_than_bytes_are_cheap)
{
	struct readahead_figures pages;
	uint64_t i;

	begin(0);
	for (i = 0; i < 50000; i++)
		read_range(0, 4096, 0xfffff000, 1000 + i);
	analysis_readahead(analysis, &pages);
	ck_assert_uint_eq(pages.read, 50000);
	end();
}

TEST(test_alternating_reads_and_evictions_of_gigabytes_are_cheap)
{
	struct readahead_figures pages;
	struct evictions_pair *pairs;
	const uint32_t bytes = 0xfffff000; /* whole pages */
	uint64_t i;
	size_t nr;

	begin(0);
	for (i = 0; i < 1000; i++) {
		read_range(0, bytes, bytes, 1000 + 2 * i);
		evict_range(i * 7 % 1000, 1 << 18, 1001 + 2 * i);
	}
	analysis_readahead(analysis, &pages);
	ck_assert_uint_eq(pages.read, 1000ULL * (bytes / 4096));
	/* A page that is read again was evicted in between, even without an eviction event. */
	ck_assert_uint_eq(pages.evicted_unused + pages.idle, pages.read);
	ck_assert_int_eq(analysis_eviction_pairs(analysis, &pairs, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(pairs[0].pages, 999ULL << 18);
	free(pairs);
	end();
}

/* Each has 2^18 pages in a folio. */
TEST(test_faults_that_map_a_gigabyte_each_are_cheap)
{
	struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.order = 18,
		.facts = PFSTAT_FACT_FOLIO,
		.result = PFSTAT_RESULT_LOCKED,
		.duration_ns = 1,
	};
	struct readahead_figures pages;
	uint64_t i;

	begin(0);
	read_range(0, UINT32_MAX, UINT32_MAX, 1000);
	for (i = 0; i < 60000; i++) {
		record.start_ns = 2000 + 10 * i;
		add(ITEM_RECORD, &record, record.start_ns + 1);
	}
	analysis_readahead(analysis, &pages);
	ck_assert_uint_eq(pages.mapped, 1 << 18);
	end();
}

/* All files would have the same key with dev << 40 ^ inode << 20. */
TEST(test_files_with_colliding_keys_are_cheap)
{
	struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.pid = 1,
		.tid = 1,
		.result = PFSTAT_RESULT_LOCKED,
		.duration_ns = 1,
	};
	uint64_t i;

	begin(1 << GROUP_BY_FILE);
	for (i = 0; i < 3 * 65536; i++) {
		record.dev = i % 65536;
		record.inode = (uint64_t)record.dev << 20 ^ 1ULL << 43;
		record.start_ns = 1000 + 10 * i;
		add(ITEM_RECORD, &record, record.start_ns + 1);
	}
	end();
}

/* All threads would share one slot: the ids undo the multiplication by the golden ratio. */
TEST(test_threads_with_colliding_ids_are_cheap)
{
	struct hash hash = { 0 };
	const uint64_t inverse = 0xf1de83e19937733dULL;
	static char values[1 << 17];
	uint64_t i;

	ck_assert_uint_eq(inverse * 11400714819323198485ULL, 1);
	begin(0);
	for (i = 0; i < sizeof(values); i++)
		ck_assert_int_eq(hash_add(&hash, (i + 1) * inverse, &values[i]), 0);
	for (i = 0; i < sizeof(values); i++)
		ck_assert_ptr_eq(hash_find(&hash, (i + 1) * inverse), &values[i]);
	free(hash.slots);
	end();
}

static void fork_task(uint32_t pid, uint64_t ns)
{
	const struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task),
			.flags = PFSTAT_TASK_FORK, .pid = pid, .tid = pid, .ns = ns,
		},
		.parent = 1, .parent_pid = 1, .comm = "child",
	};

	add(ITEM_EVENT, &task, ns);
}

/* Each fork would copy 3 MB. */
TEST(test_forks_of_a_process_with_many_mappings_are_cheap)
{
	union {
		struct item_map map;
		char bytes[sizeof(struct item_map) + 1];
	} mapped = { .map = { .bytes = 4096, .pid = 1, .tid = 1, .path_bytes = 1 } };
	uint64_t i;

	begin(0);
	for (i = 0; i < 65530; i++) {
		mapped.map.address = (i + 1) << 13;
		add(ITEM_MAP, &mapped.map, 1000);
	}
	for (i = 0; i < 500000; i++)
		fork_task(2, 2000 + i);
	ck_assert_uint_eq(address_spaces_dropped(analysis_spaces(analysis)), 0);
	end();
}
