// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of code in a recording, from this program's own symbols: written up to the limit, the rest
 * counted.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/symbols/symbols.h"
#include "user/collect/code_files.h"
#include "user/recording/reader.h"
#include "user/recording/recording.h"
#include "user/recording/writer.h"
#include "util/why.h"

#define MAPPED 0x7f0000000000ULL
#define JITTED 0x7e0000000000ULL
#define TEXT   (1U << 24) /* size of the mapping of this program's file */

static struct analysis *analysis;

static void add(enum item_type type, const void *data)
{
	struct item item = { .type = type };

	item.record = data;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static uint64_t own_inode(void)
{
	struct stat stat_buffer;

	ck_assert_int_eq(stat("/proc/self/exe", &stat_buffer), 0);
	return stat_buffer.st_ino;
}

static void add_map(const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = MAPPED,
		.bytes = TEXT,
		.inode = own_inode(),
		.dev = 9,
		.pid = 1,
		.tid = 1,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	add(ITEM_MAP, map);
	free(map);
}

/* A fault by the code at this offset in the file. */
static void add_fault(uint64_t offset)
{
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.pid = 1,
		.tid = 1,
		.inode = 77,
		.dev = 9,
		.address = 0x1000 + offset * 4096,
		.ip = MAPPED + offset,
		.start_ns = 100 * offset,
		.duration_ns = 10,
		.result = PFSTAT_RESULT_LOCKED,
	};

	add(ITEM_RECORD, &record);
}

/* A function's offset in this program's file. */
static uint64_t offset_of(const void *function)
{
	uint64_t from = 0, to = 0, offset = 0;
	char line[PATH_MAX + 128];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) ==
			    3 &&
		    (uintptr_t)function >= from && (uintptr_t)function < to)
			break;
	}
	fclose(maps);
	return (uintptr_t)function - from + offset;
}

/* Code addresses in a program with that path. Some lie between functions and have no name. */
static void add_code(const char *path, uint64_t nr)
{
	const uint64_t from = offset_of((void *)code_names_find);
	uint64_t i;

	ck_assert_uint_le(from + nr, TEXT);
	analysis = analysis_new(false, 4096, 1U << GROUP_BY_CODE);
	add_map(path);
	for (i = 0; i < nr; i++)
		add_fault(from + i);
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

static char folder[32] = "/tmp/pfstat-names-XXXXXX";
static char named[64 + NAME_MAX], link_path[128 + NAME_MAX];

/*
 * This program under the longest possible path, made from bytes that take six characters each in
 * JSON.
 */
static void make_alias(char *path)
{
	char odd[NAME_MAX + 1], self[PATH_MAX] = "";

	ck_assert_ptr_nonnull(mkdtemp(folder));
	memset(odd, 1, NAME_MAX);
	odd[NAME_MAX] = '\0';
	snprintf(named, sizeof(named), "%s/%s", folder, odd);
	ck_assert_int_eq(mkdir(named, 0700), 0);
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	snprintf(link_path, sizeof(link_path), "%s/self", named);
	ck_assert_int_eq(symlink(self, link_path), 0);
	strcpy(path, named);
	while (strlen(path) + strlen("/../self") + NAME_MAX + 1 < PATH_MAX) {
		strcat(path, "/../");
		strcat(path, odd);
	}
	strcat(path, "/self");
}

static void remove_alias(void)
{
	unlink(link_path);
	rmdir(named);
	rmdir(folder);
}

/* Writes the symbols and reads them again. Returns the number read. */
static size_t through_recording(const json_t *symbols)
{
	struct recording_writer *writer;
	struct recording_reader *reader;
	json_t *empty = json_object();
	struct item item;
	struct why why;
	FILE *file = tmpfile();
	size_t nr;

	ck_assert_int_eq(recording_begin(&writer, file, empty), 0);
	ck_assert_int_eq(recording_add_all_symbols(writer, symbols), 0);
	ck_assert_int_eq(recording_end(writer, empty), 0);
	json_decref(empty);
	rewind(file);
	ck_assert_int_eq(recording_open_file(&reader, file, "run.pfs", &why), 0);
	ck_assert_int_eq(recording_next(reader, &item), 0);
	ck_assert_ptr_null(recording_damage(reader));
	nr = json_array_size(recording_symbols(reader));
	recording_close(reader);
	return nr;
}

/* What the analysis knows of the code at this offset. */
static const struct code_name *known_of(uint64_t offset)
{
	const struct explained fault = { .pid = 1, .ip = MAPPED + offset };
	const char *object;
	const struct code_name *name = analysis_code_at(analysis, &fault, &object);

	ck_assert_pstr_eq(object, "/proc/self/exe");
	return name;
}

static void check_known(uint64_t offset)
{
	const struct code_name *name = known_of(offset);

	ck_assert_pstr_eq(name->symbol, "code_names_find+0x0");
	ck_assert_pstr_eq(name->function, "code_names_find");
	ck_assert_ptr_nonnull(strstr(name->source, "user/symbols/code_names.c"));
	ck_assert_uint_gt(name->line, 0);
}

/* A name and a line each. Names that come before the items are the same. */
TEST(test_code_gets_its_names)
{
	const uint64_t offset = offset_of((void *)code_names_find);
	json_t *symbols;
	uint64_t left_out;
	uint32_t line;

	add_code("/proc/self/exe", 3);
	ck_assert_ptr_null(known_of(offset)->symbol);
	ck_assert_ptr_null(known_of(offset)->source);
	ck_assert_int_eq(code_names_find(analysis, NULL, true, &symbols, &left_out), 0);
	ck_assert_uint_eq(json_array_size(symbols), 6);
	ck_assert_uint_eq(left_out, 0);
	ck_assert_uint_eq(through_recording(symbols), 6);
	ck_assert_int_eq(code_names_take(analysis, symbols), 0);
	check_known(offset);
	line = known_of(offset)->line;
	analysis_free(analysis);
	analysis = analysis_new(false, 4096, 0);
	ck_assert_int_eq(code_names_take(analysis, symbols), 0);
	add_map("/proc/self/exe");
	check_known(offset);
	ck_assert_uint_eq(known_of(offset)->line, line);
	ck_assert_ptr_null(known_of(offset + 4096)->symbol);
	json_decref(symbols);
	analysis_free(analysis);
}

TEST(test_lines_are_looked_up_only_if_wanted)
{
	const uint64_t offset = offset_of((void *)code_names_find);
	json_t *symbols;
	uint64_t left_out;

	add_code("/proc/self/exe", 1);
	ck_assert_int_eq(code_names_find(analysis, NULL, false, &symbols, &left_out), 0);
	ck_assert_uint_eq(json_array_size(symbols), 1);
	ck_assert_pstr_eq(known_of(offset)->function, "code_names_find");
	ck_assert_ptr_null(known_of(offset)->source);
	json_decref(symbols);
	analysis_free(analysis);
}

/* A later pfdrive may write other entries, and a damaged one impossible lines. */
TEST(test_impossible_lines_are_skipped)
{
	json_t *symbols = json_pack("[{ss si ss si} {ss si ss si} {ss si ss sI} {ss si ss}]",
				    "path", "/proc/self/exe", "offset", 1, "source", "a.c", "line",
				    0, "path", "/proc/self/exe", "offset", 2, "source", "a.c",
				    "line", -1, "path", "/proc/self/exe", "offset", 3, "source",
				    "a.c", "line", (json_int_t)1 << 32, "path", "/proc/self/exe",
				    "offset", 4, "source", "a.c");
	uint64_t offset;

	ck_assert_ptr_nonnull(symbols);
	analysis = analysis_new(false, 4096, 0);
	add_map("/proc/self/exe");
	ck_assert_int_eq(code_names_take(analysis, symbols), 0);
	for (offset = 1; offset < 5; offset++)
		ck_assert_ptr_null(known_of(offset)->source);
	json_decref(symbols);
	analysis_free(analysis);
}

static size_t find(const char *path, uint64_t nr, json_t **symbols, uint64_t *left_out)
{
	add_code(path, nr);
	ck_assert_int_eq(code_names_find(analysis, NULL, true, symbols, left_out), 0);
	analysis_free(analysis);
	return json_array_size(*symbols);
}

/* Each takes 23 KiB of JSON. Three times as many as fit. */
TEST(test_names_that_do_not_fit_are_counted)
{
	uint64_t all, left_out;
	char path[PATH_MAX];
	json_t *symbols;
	size_t found;

	all = find("/proc/self/exe", 1600, &symbols, &left_out);
	json_decref(symbols);
	ck_assert_uint_gt(all, 1200);
	ck_assert_uint_eq(left_out, 0);
	make_alias(path);
	found = find(path, 1600, &symbols, &left_out);
	ck_assert_uint_gt(found, 400);
	ck_assert_uint_gt(left_out, 400);
	ck_assert_uint_eq(found + left_out, all);
	ck_assert_uint_le(recording_json_size(symbols), RECORDING_JSON_MAX * 3 / 4);
	ck_assert_uint_eq(through_recording(symbols), found);
	json_decref(symbols);
	remove_alias();
}

/* An analysis with one fault by code in this process outside any file. */
static void add_jitted_fault(void)
{
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.pid = getpid(),
		.tid = getpid(),
		.inode = 77,
		.dev = 9,
		.address = 0x1000,
		.ip = JITTED + 0x1f,
		.start_ns = 100,
		.duration_ns = 10,
		.result = PFSTAT_RESULT_LOCKED,
	};

	analysis = analysis_new(false, 4096, 1U << GROUP_BY_CODE);
	add(ITEM_RECORD, &record);
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

static void check_only_name(const char *expected)
{
	struct group *groups;
	size_t nr;

	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_CODE, &groups, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_pstr_eq(groups[0].name, expected);
	free(groups);
}

static void write_perf_map(const char *path)
{
	FILE *file = fopen(path, "w");

	fprintf(file, "%llx 100 jitted function\n", JITTED);
	fclose(file);
}

static json_t *find_jitted(const struct code_files *files)
{
	json_t *symbols;
	uint64_t left_out;

	add_jitted_fault();
	ck_assert_int_eq(code_names_find(analysis, files, true, &symbols, &left_out), 0);
	ck_assert_uint_eq(left_out, 0);
	return symbols;
}

TEST(test_code_of_a_jit_has_the_names_of_its_process)
{
	struct code_files *files = code_files_new();
	char path[64], expected[64];
	json_t *symbols;

	code_files_see_process(files, getpid());
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(expected, sizeof(expected), "jitted function+0x1f (pid %d)", getpid());
	write_perf_map(path);
	symbols = find_jitted(files);
	check_only_name(expected);
	analysis_free(analysis);
	add_jitted_fault();
	ck_assert_int_eq(code_names_take(analysis, symbols), 0);
	check_only_name(expected);
	analysis_free(analysis);
	json_decref(symbols);
	unlink(path);
	code_files_free(files);
}

/* A caller in JIT code, such as a Python function with CPython's trampoline. */
static void add_jitted_call(void)
{
	const struct pfstat_stack stack = {
		.event = { .type = PFSTAT_EVENT_STACK,
			   .size = sizeof(stack),
			   .pid = getpid(),
			   .tid = getpid(),
			   .ns = 99 },
		.address = 0x1000,
		.frames = 2,
		.ips = { 0x1234, JITTED + 0x41 },
	};
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.pid = getpid(),
		.tid = getpid(),
		.address = 0x1000,
		.ip = 0x1234,
		.start_ns = 100,
		.duration_ns = 10,
		.result = PFSTAT_RESULT_LOCKED,
	};

	analysis = analysis_new(true, 4096, 1U << GROUP_BY_CODE | 1U << GROUP_BY_STACK);
	add(ITEM_EVENT, &stack.event);
	add(ITEM_RECORD, &record);
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

static void check_only_path(const char *expected)
{
	struct group *groups;
	size_t nr;

	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_STACK, &groups, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_pstr_eq(groups[0].name, expected);
	free(groups);
}

TEST(test_callers_in_code_of_a_jit_have_names)
{
	struct code_files *files = code_files_new();
	uint64_t left_out;
	json_t *symbols;
	char path[64];

	code_files_see_process(files, getpid());
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_perf_map(path);
	add_jitted_call();
	ck_assert_int_eq(code_names_find(analysis, files, true, &symbols, &left_out), 0);
	check_only_path("jitted function;0x1234");
	analysis_free(analysis);
	add_jitted_call();
	ck_assert_int_eq(code_names_take(analysis, symbols), 0);
	check_only_path("jitted function;0x1234");
	analysis_free(analysis);
	json_decref(symbols);
	unlink(path);
	code_files_free(files);
}

TEST(test_foreign_file_is_not_used_as_a_jit_map)
{
	struct code_files *files = code_files_new();
	char path[64], target[64];

	code_files_see_process(files, getpid());
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(target, sizeof(target), "/tmp/pfstat-target-%d", getpid());
	write_perf_map(target);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_int_lt(code_files_open_perf_map(files, getpid()), 0);
	unlink(path);
	ck_assert_int_eq(rename(target, path), 0);
	ck_assert_int_lt(code_files_open_perf_map(files, getpid() + 1), 0);
	ck_assert_int_eq(truncate(path, 65 << 20), 0);
	ck_assert_int_lt(code_files_open_perf_map(files, getpid()), 0);
	if (!geteuid()) {
		ck_assert_int_eq(truncate(path, 10), 0);
		ck_assert_int_eq(chown(path, 1, 1), 0);
		ck_assert_int_lt(code_files_open_perf_map(files, getpid()), 0);
	}
	unlink(path);
	code_files_free(files);
}
