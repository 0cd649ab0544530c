// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of tracepoints, as tracefs prints them, and fields in a sample's data. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/system/perf.h"

#define COMMON                                                                 \
	"format:\n"                                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"             \
	"\n"

static const char description[] =
	"name: mm_vmscan_direct_reclaim_end\nID: 634\n" COMMON
	"\tfield:int order;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long nr_reclaimed;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:bool sync;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\n"
	"print fmt: \"nr_reclaimed=%lu\", REC->nr_reclaimed\n";

TEST(test_a_description_has_the_id_and_the_field)
{
	struct tracepoint point;

	ck_assert_int_eq(tracepoint_parse(&point, description, "nr_reclaimed"), 0);
	ck_assert_uint_eq(point.id, 634);
	ck_assert_uint_eq(point.field.offset, 16);
	ck_assert_uint_eq(point.field.size, 8);
	ck_assert_int_eq(tracepoint_parse(&point, description, NULL), 0);
	ck_assert_uint_eq(point.id, 634);
	ck_assert_uint_eq(point.field.size, 0);
}

TEST(test_a_field_is_found_by_its_whole_name)
{
	struct tracepoint point;

	ck_assert_int_eq(tracepoint_parse(&point, description, "reclaimed"), -EPROTO);
	ck_assert_int_eq(tracepoint_parse(&point, description, "nr_reclaimed "), -EPROTO);
	ck_assert_int_eq(tracepoint_parse(&point, description, "long"), -EPROTO);
}

TEST(test_a_description_that_lacks_something_is_refused)
{
	struct tracepoint point;

	ck_assert_int_eq(tracepoint_parse(&point, "", NULL), -EPROTO);
	ck_assert_int_eq(tracepoint_parse(&point, "name: x\nID: \n", NULL), -EPROTO);
	ck_assert_int_eq(tracepoint_parse(&point, "name: x\nID: 7\n" COMMON, "nr_reclaimed"),
			 -EPROTO);
	ck_assert_int_eq(tracepoint_parse(&point, description, "sync"), -EPROTO);
}

TEST(test_a_value_is_read_with_its_size_and_not_beyond_the_data)
{
	uint32_t data[6] = { 1, 2, 3, 4, 5, 6 };
	struct tracepoint point;

	ck_assert_int_eq(tracepoint_parse(&point, description, "nr_reclaimed"), 0);
	ck_assert_uint_eq(tracepoint_value(&point, data, sizeof(data)), 6ULL << 32 | 5);
	ck_assert_uint_eq(tracepoint_value(&point, data, sizeof(data) - 1), 0);
	ck_assert_int_eq(tracepoint_parse(&point, description, "order"), 0);
	ck_assert_uint_eq(tracepoint_value(&point, data, sizeof(data)), 3);
	ck_assert_int_eq(tracepoint_parse(&point, description, NULL), 0);
	ck_assert_uint_eq(tracepoint_value(&point, data, sizeof(data)), 0);
}

TEST(test_a_tracepoint_that_the_kernel_lacks_is_refused)
{
	struct tracepoint point;
	const int err = tracepoint_read(&point, "vmscan/no_such_tracepoint", NULL);

	/* EACCES: this user may not read tracefs. */
	ck_assert(err == -ENOENT || err == -EACCES);
}
