// SPDX-License-Identifier: GPL-2.0-only
/* The rss study: faults are attributed to steps, sizes are read, results are printed. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/rss/rss_steps.h"
#include "runner.h"
#include "schema.h"
#include "user/util/page_size.h"

#define SCHEMA "Documentation/formats/pfdrive-study-rss.schema.json" /* the tests run at the top */
#define PAGE   page_size()
#define DISK   FAULT_DISK
#define LONG   FAULT_LONG

static struct rss_report sample(void)
{
	struct rss_report report = {
		.environment = {
			.source = "module",
			.version = "0.1", .kernel = "6.12", .file = "/mnt/disk/f", .cache = "cold",
			.file_bytes = 10000000, .readahead_bytes = 131072, .filesystem = "ext4",
			.device = "nullb0", .fault_around = true, .fault_around_bytes = 65536,
		},
		.steps = {
			{ .kind = RSS_START, .marks = { 100, 110, { 1 << 20, 1 << 16, 0 } } },
			{ .kind = RSS_MMAP, .marks = { 200, 210, { 2 << 20, 1 << 16, 0 } } },
			{ .kind = RSS_TOUCH, .marks = { 300, 400, { 2 << 20, 1 << 17, 16 } } },
			{ .kind = RSS_TOUCH, .offset = 10000,
			  .marks = { 500, 600, { 2 << 20, 1 << 17, 16 } } },
		},
		.nr_steps = 4,
	};

	return report;
}

static void add(struct rss_report *report, uint64_t start_ns, enum fault_class class)
{
	const struct explained fault = {
		.class = class,
		.start_ns = start_ns,
		.end_ns = start_ns + 1500,
		.inode = 1,
		.pgoff = 7,
		.attempts = 3,
		.major = true,
		.solved = true,
	};

	rss_steps_add_fault(report, &fault);
}

TEST(test_a_fault_belongs_to_the_step_in_which_it_began)
{
	struct rss_report report = sample();
	unsigned int i;

	add(&report, 99, 0);
	add(&report, 250, 0); /* between two steps */
	add(&report, 601, 0);
	for (i = 0; i < report.nr_steps; i++)
		ck_assert_uint_eq(report.steps[i].nr_faults, 0);
	add(&report, 300, DISK);
	for (i = 0; i < RSS_FAULTS_MAX + 2; i++)
		add(&report, 600, LONG);
	ck_assert_uint_eq(report.steps[2].nr_faults, 1);
	ck_assert_uint_eq(report.steps[2].faults[0].class, DISK);
	ck_assert_uint_eq(report.steps[2].faults[0].ns, 1500);
	ck_assert_uint_eq(report.steps[3].nr_faults, RSS_FAULTS_MAX + 2);
}

/* The kernel counts resident pages on each CPU and adds them up later: a sample may be wrong. */
#define SIZE_SAMPLES 20

static bool is_resident_as_touched(const struct sizes_files *files)
{
	struct sizes before, mapped, touched;
	volatile char *range;

	ck_assert_int_eq(proc_self_size_read(files, NULL, 0, &before), 0);
	range = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)range, MAP_FAILED);
	ck_assert_int_eq(proc_self_size_read(files, range, 64, &mapped), 0);
	ck_assert_uint_eq(mapped.virtual_bytes, before.virtual_bytes + 64 * PAGE);
	ck_assert_uint_eq(mapped.mapped_pages, 0);
	range[0] = 1;
	range[3 * PAGE] = 1;
	ck_assert_int_eq(proc_self_size_read(files, range, 64, &touched), 0);
	ck_assert_uint_eq(touched.virtual_bytes, mapped.virtual_bytes);
	/* Large folios may map more pages at once, and then both figures grow. */
	ck_assert_uint_ge(touched.mapped_pages, 2);
	munmap((void *)range, 64 * PAGE);
	return touched.resident_bytes - mapped.resident_bytes == touched.mapped_pages * PAGE;
}

TEST(test_sizes_grow_with_mapped_and_touched_pages)
{
	struct sizes_files files;
	unsigned int samples = 1;
	struct sizes sizes;

	ck_assert_int_eq(proc_self_size_open(&files), 0);
	ck_assert_int_eq(proc_self_size_read(&files, NULL, 0, &sizes), 0);
	while (!is_resident_as_touched(&files))
		ck_assert_uint_lt(samples++, SIZE_SAMPLES);
	close(files.statm);
	close(files.rollup);
	close(files.pagemap);
}

typedef int (*touch_printer)(FILE *out, const struct rss_report *report);

static char *printed(const struct rss_report *report, touch_printer print)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(print(out, report), 0);
	fclose(out);
	return text;
}

TEST(test_table_has_steps_faults_and_growth)
{
	struct rss_report report = sample();
	char *text;
	unsigned int i;

	add(&report, 300, DISK);
	for (i = 0; i < 6; i++)
		add(&report, 500, FAULT_ANON);
	text = printed(&report, rss_table);
	ck_assert_ptr_nonnull(strstr(text, "page cache cold; fault-around 64 KiB\n"));
	ck_assert_ptr_nonnull(strstr(text, "disk (major) of page 7, 1.50 "));
	ck_assert_ptr_nonnull(strstr(text, "; 2 more"));
	ck_assert_ptr_nonnull(strstr(text, "+1024"));
	ck_assert_ptr_null(strstr(text, "Lost"));
	ck_assert_ptr_null(strstr(text, "eBPF"));
	ck_assert_ptr_nonnull(strstr(text, "none: "));
	free(text);
	strcpy(report.environment.source, "ebpf");
	text = printed(&report, rss_table);
	ck_assert_ptr_nonnull(strstr(text, "Source  eBPF, without the pfstat module\n"));
	free(text);
	report.lost = 3;
	report.bpf_missing = "--no-bpf was given";
	report.environment.fault_around = false;
	text = printed(&report, rss_table);
	ck_assert_ptr_nonnull(strstr(text, "Lost    3 records"));
	/* The lost record may have belonged to such a step. */
	ck_assert_ptr_null(strstr(text, "none: "));
	ck_assert_ptr_nonnull(strstr(text, "eBPF    n/a (--no-bpf was given)"));
	ck_assert_ptr_nonnull(strstr(text, "fault-around off"));
	free(text);
}

TEST(test_json_matches_the_schema)
{
	struct rss_report report = sample();
	json_error_t error;
	struct schema schema = { .root = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error) };
	json_t *json;
	char *text;

	ck_assert_msg(schema.root, SCHEMA ": %s", error.text);
	add(&report, 300, DISK);
	text = printed(&report, rss_json);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(json, "%s", error.text);
	ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
	ck_assert_uint_ge(schema_check_strict(&schema, json, json), 50);
	json_decref(json);
	json_decref((json_t *)schema.root);
	free(text);
}

/* The error has a separate message and is not reported as a lack of memory. */
TEST(test_json_returns_the_write_error)
{
	struct rss_report report = sample();
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	setbuf(full, NULL);
	ck_assert_int_eq(rss_json(full, &report), -ENOSPC);
	fclose(full);
}
