// SPDX-License-Identifier: GPL-2.0-only
/* Sums for calls that shape mappings, the callers, and the text for advice and flags. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "user/analyze/analysis.h"
#include "user/model/call_kind.h"

static struct analysis *analysis;

static void add_map(uint64_t address, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + 64);
	const struct item item = { .type = ITEM_MAP, .map = map };

	*map = (struct item_map){ .address = address,
				  .bytes = 0x10000,
				  .inode = 5,
				  .pid = 1,
				  .tid = 1,
				  .pgoff = 2,
				  .path_bytes = strlen(path) + 1 };
	strcpy(map->path, path);
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	free(map);
}

#define RANGE 0x7000

static void add_call(enum pfstat_call_kind kind, uint64_t third, uint64_t fourth, int64_t result,
		     uint64_t caller)
{
	static uint64_t ns = 1000;
	const struct pfstat_call call = {
		.event = { .type = PFSTAT_EVENT_CALL,
			   .size = sizeof(call),
			   .pid = 1,
			   .tid = 1,
			   .ns = ns + 100 },
		.start_ns = ns + 60,
		.args = { RANGE, 4096, third, fourth },
		.result = result,
		.caller = caller,
		.kind = kind,
	};
	const struct item item = { .type = ITEM_EVENT, .event = &call.event };

	ns += 100;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void add_fork(uint32_t tid, uint64_t ns, uint32_t flags, uint64_t pages)
{
	const struct pfstat_fork fork = {
		.event = { PFSTAT_EVENT_FORK, sizeof(fork), flags, 1, tid, ns },
		.pages = pages,
		.table_bytes = 8192,
		.child = 7,
	};
	const struct item item = { .type = ITEM_EVENT, .event = &fork.event };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void add_clone(enum pfstat_call_kind kind, uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	const struct pfstat_call call = {
		.event = { PFSTAT_EVENT_CALL, sizeof(call), 0, 1, tid, end_ns },
		.start_ns = start_ns,
		.result = 7,
		.kind = kind,
	};
	const struct item item = { .type = ITEM_EVENT, .event = &call.event };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void check_caller(size_t row, const char *expected)
{
	char *caller = analysis_caller(analysis, &analysis_calls(analysis)->rows[row]);

	ck_assert_str_eq(caller, expected);
	free(caller);
}

TEST(test_a_fork_belongs_to_the_call_in_which_it_came)
{
	const struct shaping_call *row;

	analysis = analysis_new(true, 4096, 0);
	add_fork(2, 130, PFSTAT_FORK_PAGES, 50);
	add_fork(1, 150, PFSTAT_FORK_PAGES, 100);
	add_clone(PFSTAT_CALL_CLONE3, 2, 120, 160);
	add_clone(PFSTAT_CALL_CLONE, 1, 140, 170);
	add_clone(PFSTAT_CALL_CLONE, 1, 180, 190); /* failed, or made a thread */
	add_fork(1, 210, 0, 0);
	add_clone(PFSTAT_CALL_CLONE, 1, 200, 220);
	ck_assert_uint_eq(analysis_calls(analysis)->nr, 2);
	row = &analysis_calls(analysis)->rows[0];
	ck_assert_uint_eq(row->forks, 1);
	ck_assert_uint_eq(row->fork_pages, 50);
	row = &analysis_calls(analysis)->rows[1];
	ck_assert_uint_eq(row->count, 3);
	ck_assert_uint_eq(row->forks, 2);
	ck_assert_uint_eq(row->forks_counted, 1);
	ck_assert_uint_eq(row->fork_pages, 100);
	ck_assert_uint_eq(row->fork_table_bytes, 2 * 8192);
	analysis_free(analysis);
}

TEST(test_more_forks_at_once_than_are_kept_lose_the_oldest)
{
	const struct shaping_call *row;
	uint32_t tid;

	analysis = analysis_new(true, 4096, 0);
	for (tid = 1; tid <= SHAPING_FORKS_MAX + 1; tid++)
		add_fork(tid, 100 + tid, PFSTAT_FORK_PAGES, 10);
	for (tid = 1; tid <= SHAPING_FORKS_MAX + 1; tid++)
		add_clone(PFSTAT_CALL_FORK, tid, 50, 400 + tid);
	row = &analysis_calls(analysis)->rows[0];
	ck_assert_uint_eq(row->count, SHAPING_FORKS_MAX + 1);
	ck_assert_uint_eq(row->forks, SHAPING_FORKS_MAX);
	ck_assert_uint_eq(row->fork_pages, 10 * SHAPING_FORKS_MAX);
	analysis_free(analysis);
}

TEST(test_calls_are_summed_by_call_advice_and_caller)
{
	const struct shaping_calls *calls;

	analysis = analysis_new(true, 4096, 0);
	add_map(0x10000, "/bin/a");
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10011);
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, -EINVAL, 0x10011);
	add_call(PFSTAT_CALL_MADVISE, MADV_NORMAL, 0, 0, 0x10011);
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10021);
	add_call(PFSTAT_CALL_MLOCK, 7, 7, 0, 0);
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10011);
	calls = analysis_calls(analysis);
	ck_assert_uint_eq(calls->nr, 4);
	ck_assert_uint_eq(calls->rows[0].count, 3);
	ck_assert_uint_eq(calls->rows[0].failed, 1);
	ck_assert_uint_eq(calls->rows[0].bytes, 2 * 4096);
	ck_assert_uint_eq(calls->rows[0].total_ns, 3 * 40);
	ck_assert_uint_eq(calls->rows[0].last_ns - calls->rows[0].first_ns, 500);
	ck_assert_uint_eq(calls->rows[1].detail, MADV_NORMAL);
	ck_assert_uint_eq(calls->rows[3].detail, 0);
	check_caller(0, "0x2010 (/bin/a)");
	check_caller(2, "0x2020 (/bin/a)");
	check_caller(3, "(not known)");
	analysis_free(analysis);
}

static int count_place(void *context, const struct code_place *place)
{
	ck_assert_str_eq(place->path, "/bin/a");
	ck_assert_uint_eq(place->offset, 0x2010);
	++*(int *)context;
	return 0;
}

TEST(test_calls_for_files_have_rows_of_their_own)
{
	const struct shaping_calls *calls;

	analysis = analysis_new(true, 4096, 0);
	add_map(RANGE, "/data");
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10011);
	add_call(PFSTAT_CALL_MMAP, 0, MAP_SHARED, RANGE + 4096, 0x10021);
	add_call(PFSTAT_CALL_FADVISE64, 4096, POSIX_FADV_RANDOM, 0, 0x10021);
	add_map(RANGE, "/other");
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10011);
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, -EINVAL, 0x10011);
	calls = analysis_calls(analysis);
	ck_assert_uint_eq(calls->nr, 5);
	ck_assert_str_eq(analysis_call_file(analysis, &calls->rows[0]), "/data");
	ck_assert_str_eq(analysis_call_file(analysis, &calls->rows[1]), "/data");
	ck_assert_str_eq(analysis_call_file(analysis, &calls->rows[2]), "");
	ck_assert_str_eq(analysis_call_file(analysis, &calls->rows[3]), "/other");
	ck_assert_str_eq(analysis_call_file(analysis, &calls->rows[4]), "");
	analysis_free(analysis);
}

TEST(test_callers_get_names)
{
	int places = 0;

	analysis = analysis_new(true, 4096, 0);
	add_map(0x10000, "/bin/a");
	add_call(PFSTAT_CALL_MADVISE, MADV_RANDOM, 0, 0, 0x10011);
	add_call(PFSTAT_CALL_MLOCK, 0, 0, 0, 0);
	ck_assert_int_eq(analysis_visit_code(analysis, count_place, &places), 0);
	ck_assert_int_eq(places, 1);
	ck_assert_int_eq(analysis_name_code(analysis, "/bin/a", 0x2010, "main+0x4"), 0);
	check_caller(0, "main+0x4 (/bin/a)");
	/* Code in no file, such as JIT code. */
	add_call(PFSTAT_CALL_MLOCK, 0, 0, 0, 0x50001);
	check_caller(2, "0x50000 (pid 1)");
	ck_assert_int_eq(analysis_name_address(analysis, 1, 0x50000, "jit"), 0);
	check_caller(2, "jit (pid 1)");
	analysis_free(analysis);
}

TEST(test_rows_are_bounded)
{
	const struct shaping_calls *calls;
	unsigned int i;

	analysis = analysis_new(true, 4096, 0);
	for (i = 0; i < SHAPING_CALLS_MAX + 7; i++)
		add_call(PFSTAT_CALL_MLOCK, 0, 0, 0, 0x100000 + i);
	add_call(PFSTAT_CALL_MLOCK, 0, 0, 0, 0x100000);
	calls = analysis_calls(analysis);
	ck_assert_uint_eq(calls->nr, SHAPING_CALLS_MAX);
	ck_assert_uint_eq(calls->left_out, 7);
	ck_assert_uint_eq(calls->rows[0].count, 2);
	analysis_free(analysis);
}

static void check_detail(enum pfstat_call_kind kind, uint64_t detail, const char *expected)
{
	char text[256];

	call_kind_print_detail(kind, detail, text, sizeof(text));
	ck_assert_str_eq(text, expected);
}

TEST(test_advice_and_flags_have_names)
{
	check_detail(PFSTAT_CALL_MADVISE, MADV_SEQUENTIAL, "MADV_SEQUENTIAL");
	check_detail(PFSTAT_CALL_MADVISE, 99, "99");
	check_detail(PFSTAT_CALL_FADVISE64, 1, "POSIX_FADV_RANDOM");
	check_detail(PFSTAT_CALL_MMAP, MAP_SHARED | MAP_POPULATE, "MAP_SHARED|MAP_POPULATE");
	check_detail(PFSTAT_CALL_MMAP, MAP_PRIVATE | 0x80000000, "MAP_PRIVATE|0x80000000");
	check_detail(PFSTAT_CALL_MLOCKALL, 1 | 2, "MCL_CURRENT|MCL_FUTURE");
	check_detail(PFSTAT_CALL_CLONE, 0x11, "0x11");
	check_detail(PFSTAT_CALL_MLOCK, 0, "");
	check_detail(PFSTAT_CALL_MLOCK2, 0, "");
}
