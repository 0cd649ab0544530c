// SPDX-License-Identifier: GPL-2.0-only
/* The io study, mmap against read(2) and write(2): access method names, and output. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/syscall.h>

#include "bench/io/io_report.h"
#include "runner.h"
#include "sample_run.h"
#include "schema.h"

#define SCHEMA	"Documentation/formats/pfdrive-study-io.schema.json" /* the tests run at the top */
#define NR_ROWS 4

static struct io_method only_way(const char *text)
{
	struct io_method methods[2];
	unsigned int nr = 0;

	ck_assert_int_eq(io_method_parse(text, methods, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	return methods[0];
}

TEST(test_access_methods_are_parsed)
{
	struct io_method methods[2];
	unsigned int nr = 0;

	ck_assert_int_eq(io_method_parse("mmap", methods, &nr), 0);
	ck_assert_uint_eq(nr, 2);
	ck_assert(methods[0].map && !methods[0].write && methods[1].map && methods[1].write);
	ck_assert_uint_eq(only_way("read:512").block, 512);
	ck_assert(!only_way("read:512").write && !only_way("read:8").map);
	ck_assert_uint_eq(only_way("write:64K").block, 65536);
	ck_assert(only_way("write:64K").write);
}

TEST(test_malformed_access_methods_are_refused)
{
	static const char *const names[] = {
		"", "mmap:4K", "read", "write", "reads:512", "pread:1K",
	};
	static const char *const sizes[] = {
		"read:", "read:0", "read:7", "read:4k", "write:-8", "write:2G", "read:512:",
	};
	struct io_method methods[2];
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(io_method_parse(names[i], methods, &nr), -ENOENT);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ck_assert_int_eq(io_method_parse(sizes[i], methods, &nr), -EINVAL);
	ck_assert_uint_eq(nr, 0);
}

static void check_name(struct io_method method, const char *expected)
{
	char name[64];

	io_method_name(&method, name, sizeof(name));
	ck_assert_str_eq(name, expected);
}

TEST(test_access_methods_are_printed_as_given)
{
	check_name(only_way("read:512"), "read:512");
	check_name(only_way("write:4096"), "write:4K");
	check_name(only_way("read:1G"), "read:1G");
	check_name(only_way("write:1536"), "write:1536");
	check_name((struct io_method){ .map = true }, "mmap, read");
	check_name((struct io_method){ .map = true, .write = true }, "mmap, write");
}

TEST(test_meminfo_is_parsed)
{
	char text[] = "MemTotal:        2021804 kB\nMemFree:         1754624 kB\n"
		      "MemAvailable:    1818308 kB\nBuffers:            2660 kB\n"
		      "Cached:            19472 kB\nSwapCached:            7 kB\n"
		      "Dirty:                24 kB\nWriteback:            99 kB\n";
	FILE *file = fmemopen(text, strlen(text), "r");
	struct meminfo meminfo;

	meminfo_parse(&meminfo, file);
	fclose(file);
	ck_assert_uint_eq(meminfo.available, 1818308);
	ck_assert_uint_eq(meminfo.buffers, 2660);
	ck_assert_uint_eq(meminfo.cached, 19472);
	ck_assert_uint_eq(meminfo.dirty, 24);
	meminfo_parse(&meminfo, NULL);
	ck_assert_uint_eq(meminfo.cached, COUNT_NA);
	ck_assert_uint_eq(meminfo.available, COUNT_NA);
}

/* Four rows: 25 files of 10 MiB, with three passes of 1, 2 and 3 s, and an observed pass of 3 s. */
struct sample_via {
	struct sample_run run, without;
	struct io_pass passes[3];
	struct io_row rows[NR_ROWS];
	struct io_report report;
};

static void sample_via_open(struct sample_via *via)
{
	unsigned int i;

	memset(via, 0, sizeof(*via));
	sample_open(&via->run, 150000);
	via->run.syscalls[2].number = SYS_getrusage;
	sample_open_empty(&via->without);
	for (i = 0; i < 3; i++)
		via->passes[i] = (struct io_pass){
			.map_ns = 1000,
			.move_ns = 999999000ULL * (i + 1) + 1000 * i,
			.usage = { .minflt = 10 + i, .nvcsw = 5 },
			.before = { 1000, 2000, 3000, 4000 },
			.after = { 1, 2, 3, COUNT_NA },
			.resident_after = 64000,
		};
	for (i = 0; i < NR_ROWS; i++)
		via->rows[i] = (struct io_row){
			.method = only_way("read:512"),
			.cache = i % NR_IO_CACHES,
			.nr_files = 25,
			.bytes = 10 << 20,
			.passes = via->passes,
			.nr_passes = 3,
			.watched = via->passes[2],
			.seen = &via->run.report,
		};
	via->rows[1].method = (struct io_method){ .map = true, .write = true };
	via->rows[1].watched.synced = true;
	via->rows[3].seen = &via->without.report;
	via->report = (struct io_report){
		.folder = "/mnt/disk",
		.nr_files = 25,
		.file_bytes = 10 << 20,
		.rows = via->rows,
		.nr_rows = NR_ROWS,
		.environment = via->run.report.environment,
	};
	strcpy(via->report.environment.source, "module");
}

static void sample_via_close(struct sample_via *via)
{
	sample_close(&via->run);
	sample_close(&via->without);
}

static __attribute__((noinline)) char *print_via(const struct io_report *report, bool json)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(json ? io_json(out, report) : io_table(out, report), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

TEST(test_rates_overheads_and_system_calls_are_computed)
{
	struct sample_via via;

	sample_via_open(&via);
	ck_assert_double_eq_tol(io_report_rate(&via.rows[0], &via.passes[0]), 250, 0.000001);
	ck_assert_double_eq_tol(io_report_rate(&via.rows[0], &via.passes[1]), 125, 0.000001);
	/* 3 s, compared with the mean of 1, 2 and 3 s */
	ck_assert_double_eq_tol(io_report_overhead(&via.rows[0]), 0.5, 0.000001);
	/* 12 read and 1 clock_nanosleep. The getrusage call is the instrument's own. */
	ck_assert_uint_eq(io_report_syscalls(&via.run.report), 13);
	ck_assert_uint_eq(io_report_syscalls(&via.without.report), COUNT_NA);
	sample_via_close(&via);
}

TEST(test_json_matches_its_schema_in_both_directions)
{
	struct sample_via via;
	json_error_t error;
	struct schema schema = { .root = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error) };
	json_t *json, *row;
	char *text;

	ck_assert_msg(schema.root, SCHEMA ": %s", error.text);
	sample_via_open(&via);
	text = print_via(&via.report, true);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(json, "%s", error.text);
	ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
	ck_assert_uint_ge(schema_check_strict(&schema, json, json), 500);
	row = json_array_get(json_object_get(json, "rows"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "bytes")), 250 << 20);
	ck_assert_double_eq_tol(json_real_value(json_object_get(json_object_get(row, "mean"),
								"elapsed_ns")),
				2e9, 1);
	ck_assert(json_is_null(json_object_get(json_object_get(row, "mean"), "sync_ns")));
	row = json_array_get(json_object_get(json, "rows"), 3);
	ck_assert(json_is_null(json_object_get(json_object_get(row, "watched"), "system_calls")));
	json_decref(json);
	json_decref((json_t *)schema.root);
	free(text);
	sample_via_close(&via);
}

TEST(test_table_prints_na_instead_of_0)
{
	struct sample_via via;
	char *text, *line;

	sample_via_open(&via);
	via.rows[0].seen = &via.without.report;
	text = print_via(&via.report, false);
	ck_assert_ptr_nonnull(strstr(text, "25 of 10 MiB in /mnt/disk; ext4 on nullb0"));
	line = strstr(text, "watched by eBPF");
	ck_assert_ptr_nonnull(line);
	line = strstr(line, "read:512");
	line[strcspn(line, "\n")] = '\0';
	ck_assert_msg(strstr(line, "n/a"), "%s", line);
	free(text);
	sample_via_close(&via);
}

TEST(test_losses_are_printed_first)
{
	struct sample_via via;
	struct report *seen;
	char *text;

	sample_via_open(&via);
	text = print_via(&via.report, false);
	ck_assert_ptr_null(strstr(text, "LOST"));
	free(text);
	seen = (struct report *)via.rows[0].seen;
	seen->losses.records = 4;
	seen->losses.events = 33;
	text = print_via(&via.report, false);
	ck_assert_ptr_nonnull(strstr(text, ": LOST 4 RECORDS: "));
	ck_assert_ptr_nonnull(strstr(text, ": LOST 33 EVENTS OF EBPF: "));
	free(text);
	sample_via_close(&via);
}

TEST(test_lines_have_at_most_110_columns)
{
	struct sample_via via;
	char *text, *line, *rest;

	sample_via_open(&via);
	text = print_via(&via.report, false);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		ck_assert_msg(strlen(line) <= 110, "%s", line);
	free(text);
	sample_via_close(&via);
}
