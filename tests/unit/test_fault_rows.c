// SPDX-License-Identifier: GPL-2.0-only
/* Fault rows: a value not reported by the fault source is empty, or null. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/print/json_text.h"
#include "user/print/printers.h"

static const struct explained solved = {
	.class = FAULT_FILE,
	.pid = 10,
	.tid = 11,
	.start_ns = 1000,
	.end_ns = 4000,
	.address = 0x7000,
	.inode = 5,
	.pgoff = 3,
	.ip = 0x400,
	.flags = PFSTAT_FLAG_USER,
	.major = true,
	.solved = true,
	.parts_known = true,
	.whole = true,
	.parts_ns = { [PART_CPU_BEFORE] = 1000, [PART_ASLEEP] = 2000 },
};

static char *text;
static bool named; /* the code has a mapping and names */

/* The fault's code is in a file from offset 0x100 on. */
static void name_code(struct analysis *analysis)
{
	static const char path[] = "/bin/program";
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(path));
	const struct item item = { .type = ITEM_MAP, .map = map };

	*map = (struct item_map){ .address = 0,
				  .bytes = 0x1000,
				  .inode = 9,
				  .dev = 8,
				  .pid = 10,
				  .tid = 10,
				  .path_bytes = sizeof(path) };
	strcpy(map->path, path);
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	free(map);
	ck_assert_int_eq(analysis_name_code(analysis, path, 0x400, "ns::operator++0x1f"), 0);
	ck_assert_int_eq(analysis_name_line(analysis, path, 0x400, "/src/a,b.c", 77), 0);
}

/* Prints one fault. */
static void print(const struct explained *fault, bool json)
{
	struct analysis *analysis = analysis_new(true, 4096, 0);
	const struct fault_printer *printer = json ? &json_rows_printer : &csv_rows_printer;
	const struct missing_faults missing = { 0 };
	size_t length;
	void *rows;
	FILE *out;

	free(text);
	out = open_memstream(&text, &length);
	if (named)
		name_code(analysis);
	ck_assert_int_eq(printer->open(&rows, out, analysis), 0);
	ck_assert_int_eq(printer->fault(rows, fault), 0);
	ck_assert_int_eq(printer->end(rows, &missing), 0);
	fclose(out);
	analysis_free(analysis);
}

/* The cell of the only row below the column's name, valid until the next call. */
static char *cell(const char *column)
{
	static char copy[4096];
	char *names = copy, *values, *name, *value;

	ck_assert_uint_lt(strlen(text), sizeof(copy));
	strcpy(copy, text);
	values = strchr(copy, '\n') + 1;
	values[-1] = '\0';
	values[strcspn(values, "\n")] = '\0';
	while ((name = strsep(&names, ",")) && (value = strsep(&values, ",")))
		if (!strcmp(name, column))
			return value;
	ck_abort_msg("no column %s in %s", column, text);
}

static json_t *parsed(void)
{
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(json, "not JSON: %s", text);
	return json;
}

static void check_null(json_t *json, const char *key)
{
	ck_assert_msg(json_is_null(json_object_get(json, key)), "%s is not null", key);
}

TEST(test_csv_of_perf_has_empty_cells_for_values_that_perf_does_not_report)
{
	struct explained fault = solved;

	fault.perf = PFSTAT_PERF_SAMPLED;
	print(&fault, false);
	ck_assert_str_eq(cell("write"), "");
	ck_assert_str_eq(cell("queue_ns"), "");
	ck_assert_str_eq(cell("device_ns"), "");
	ck_assert_str_eq(cell("foreign_ns"), "");
	ck_assert_str_eq(cell("blocked_ns"), "");
	ck_assert_str_eq(cell("reclaim_ns"), "");
	ck_assert_str_eq(cell("read_bytes"), "");
	ck_assert_str_eq(cell("duration_ns"), "3000");
	ck_assert_str_eq(cell("kernel"), "0");
	ck_assert_str_eq(cell("major"), "1");
	ck_assert_str_eq(cell("page"), "3");
	ck_assert_str_eq(cell("cpu_before_ns"), "1000");
	ck_assert_str_eq(cell("asleep_ns"), "2000");
	ck_assert_str_eq(cell("runqueue_ns"), "0");
	ck_assert_str_eq(cell("cpu_after_ns"), "0");
	ck_assert_str_eq(cell("residue_ns"), "0");
}

TEST(test_json_of_perf_has_null_for_values_that_perf_does_not_report)
{
	struct explained fault = solved;
	json_t *json;

	fault.perf = PFSTAT_PERF_SAMPLED;
	print(&fault, true);
	json = parsed();
	check_null(json, "write");
	check_null(json, "device_ns");
	check_null(json, "read_bytes");
	ck_assert(json_is_false(json_object_get(json, "kernel")));
	ck_assert_int_eq(json_integer_value(json_object_get(json, "asleep_ns")), 2000);
	json_decref(json);
}

/* perf has no event at the end of a failed fault. */
TEST(test_failed_fault_of_perf_has_no_duration)
{
	struct explained fault = solved;
	json_t *json;

	fault.perf = PFSTAT_PERF_SAMPLED | PFSTAT_PERF_NO_END;
	fault.solved = false;
	fault.end_ns = fault.start_ns;
	print(&fault, false);
	ck_assert_str_eq(cell("start_ns"), "1000");
	ck_assert_str_eq(cell("duration_ns"), "");
	ck_assert_str_eq(cell("cpu_before_ns"), "");
	ck_assert_str_eq(cell("solved"), "0");
	print(&fault, true);
	json = parsed();
	check_null(json, "duration_ns");
	check_null(json, "cpu_before_ns");
	json_decref(json);
}

TEST(test_fault_of_another_source_has_each_value)
{
	struct explained fault = solved;
	json_t *json;

	fault.flags = PFSTAT_FLAG_WRITE;
	fault.read_bytes = 4096;
	print(&fault, false);
	ck_assert_str_eq(cell("write"), "1");
	ck_assert_str_eq(cell("kernel"), "1");
	ck_assert_str_eq(cell("device_ns"), "0");
	ck_assert_str_eq(cell("read_bytes"), "4096");
	fault.flags = PFSTAT_FLAG_USER;
	print(&fault, true);
	json = parsed();
	ck_assert(json_is_false(json_object_get(json, "write")));
	ck_assert_int_eq(json_integer_value(json_object_get(json, "read_bytes")), 4096);
	json_decref(json);
}

TEST(test_row_without_events_has_no_parts)
{
	struct explained fault = solved;

	fault.parts_known = false;
	print(&fault, false);
	ck_assert_str_eq(cell("cpu_before_ns"), "");
	ck_assert_str_eq(cell("read_bytes"), "");
	ck_assert_str_eq(cell("write"), "0");
	ck_assert_str_eq(cell("duration_ns"), "3000");
}

TEST(test_row_has_the_time_of_the_calls_and_whether_it_is_all_of_the_fault)
{
	struct explained fault = solved;
	json_t *json;

	fault.calls = 2;
	fault.handler_ns = 500;
	fault.parts_ns[PART_MM] = 700;
	print(&fault, false);
	ck_assert_str_eq(cell("calls_ns"), "500");
	ck_assert_str_eq(cell("mm_ns"), "700");
	ck_assert_str_eq(cell("whole"), "1");
	print(&fault, true);
	json = parsed();
	ck_assert_int_eq(json_integer_value(json_object_get(json, "calls_ns")), 500);
	ck_assert(json_is_true(json_object_get(json, "whole")));
	json_decref(json);
	fault.whole = false;
	print(&fault, false);
	ck_assert_str_eq(cell("mm_ns"), "");
	ck_assert_str_eq(cell("whole"), "0");
	fault.calls = 0;
	print(&fault, true);
	json = parsed();
	check_null(json, "calls_ns");
	check_null(json, "mm_ns");
	ck_assert(json_is_false(json_object_get(json, "whole")));
	json_decref(json);
}

TEST(test_row_has_the_mechanism_if_it_is_known)
{
	struct explained fault = solved;
	json_t *json;

	fault.class = FAULT_OTHER;
	print(&fault, false);
	ck_assert_str_eq(cell("mechanism"), "");
	print(&fault, true);
	json = parsed();
	check_null(json, "mechanism");
	json_decref(json);
	fault.note = PFSTAT_NOTE_NUMA_MOVED;
	print(&fault, false);
	ck_assert_str_eq(cell("mechanism"), "numa_moved");
	print(&fault, true);
	json = parsed();
	ck_assert_str_eq(json_string_value(json_object_get(json, "mechanism")), "numa_moved");
	json_decref(json);
}

TEST(test_smallest_and_largest_numbers_are_printed_in_full)
{
	struct explained fault = solved;

	fault.start_ns = 0;
	fault.address = UINT64_MAX;
	fault.ip = 0;
	fault.pgoff = UINT64_MAX;
	fault.pid = UINT32_MAX;
	print(&fault, false);
	ck_assert_str_eq(cell("start_ns"), "0");
	ck_assert_str_eq(cell("address"), "0xffffffffffffffff");
	ck_assert_str_eq(cell("code"), "0");
	ck_assert_str_eq(cell("page"), "18446744073709551615");
	ck_assert_str_eq(cell("pid"), "4294967295");
}

TEST(test_row_has_the_names_of_its_code)
{
	struct explained fault = solved;
	json_t *json;

	named = true;
	print(&fault, true);
	json = parsed();
	ck_assert_str_eq(json_string_value(json_object_get(json, "function")), "ns::operator+");
	ck_assert_str_eq(json_string_value(json_object_get(json, "object")), "/bin/program");
	ck_assert_str_eq(json_string_value(json_object_get(json, "source_file")), "/src/a,b.c");
	ck_assert_int_eq(json_integer_value(json_object_get(json, "line")), 77);
	json_decref(json);
	print(&fault, false);
	ck_assert_ptr_nonnull(strstr(text, ",ns::operator+,/bin/program,\"/src/a,b.c\",77\n"));
	fault.ip = 0x401;
	print(&fault, false);
	ck_assert_str_eq(cell("function"), "");
	ck_assert_str_eq(cell("object"), "/bin/program");
	ck_assert_str_eq(cell("source_file"), "");
	ck_assert_str_eq(cell("line"), "");
	fault.ip = 0x2000; /* in no mapping */
	print(&fault, true);
	json = parsed();
	check_null(json, "function");
	check_null(json, "object");
	check_null(json, "source_file");
	check_null(json, "line");
	json_decref(json);
}

TEST(test_plain_and_odd_names_are_json)
{
	static const char *const names[] = { "f", "a\"b\\c", "tab\there", "\303\274", "\377" };
	static const char *const expected[] = { "f", "a\"b\\c", "tab\there", "\303\274", "?" };
	char *bytes;
	size_t i, length;
	json_t *json;
	FILE *out;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		out = open_memstream(&bytes, &length);
		ck_assert_int_eq(json_text_print(out, names[i]), 0);
		fclose(out);
		json = json_loads(bytes, JSON_DECODE_ANY, NULL);
		ck_assert_pstr_eq(json_string_value(json), expected[i]);
		json_decref(json);
		free(bytes);
	}
}
