// SPDX-License-Identifier: GPL-2.0-only
/* A prefetch list made of recordings: which files and pages are in it, and what is left out. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "apps/prefetch/prefetch.h"
#include "user/print/json/json_environment.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"
#include "user/util/message.h"
#include "user/util/page_size.h"

#define MAPPED 0x7f0000000000UL
#define PAGES  16
#define NOW    1700000000

static char folder[64], data[128];
static char names[3][16];
static struct recording_writer *writer;
static struct prefetch_made made;
static uint32_t hooks;
static uint64_t reached = COUNT_NA; /* program starts; COUNT_NA: no library of --exact */
static bool exact;
static FILE *out;

/* Sets the modification time. */
static void change_at(const char *path, time_t seconds)
{
	const struct timespec times[] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void make_data(void)
{
	const int fd = open(data, O_CREAT | O_TRUNC | O_RDWR, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGES * page_size() - 100), 0);
	close(fd);
	change_at(data, NOW - 1000);
}

static void make_folder(void)
{
	unsigned int i;

	strcpy(folder, "/dev/shm/pfstat-make-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(data, sizeof(data), "%s/data", folder);
	make_data();
	for (i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "run%u.pfs", i);
}

static void remove_folder(void)
{
	unsigned int i;

	prefetch_made_exit(&made);
	for (i = 0; i < 3; i++)
		unlink(names[i]);
	unlink(data);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct stat status_of_data(void)
{
	struct stat status;

	ck_assert_int_eq(stat(data, &status), 0);
	return status;
}

static void add(enum item_type type, uint64_t ns, const void *entry)
{
	struct item item = { .type = type, .ns = ns, .record = entry };

	ck_assert_int_eq(recording_add(writer, &item), 0);
}

/* Returns the device as records have it. */
static uint32_t device_of_data(void)
{
	const struct stat status = status_of_data();

	return major(status.st_dev) << 20 | minor(status.st_dev);
}

static void add_exec(void)
{
	struct item_map *map = calloc(1, sizeof(*map) + 1);

	ck_assert_ptr_nonnull(map);
	*map = (struct item_map){ .ns = 1200, .pid = 50, .tid = 50, .path_bytes = 1 };
	add(ITEM_MAP, map->ns, map);
	free(map);
}

static void add_map(void)
{
	const size_t bytes = strlen(data) + 1;
	struct item_map *map = calloc(1, sizeof(*map) + bytes);

	ck_assert_ptr_nonnull(map);
	*map = (struct item_map){
		.ns = 1500,
		.address = MAPPED,
		.bytes = PAGES * page_size(),
		.inode = status_of_data().st_ino,
		.dev = device_of_data(),
		.pid = 50,
		.tid = 50,
		.path_bytes = bytes,
	};
	memcpy(map->path, data, bytes);
	add(ITEM_MAP, map->ns, map);
	free(map);
}

static void add_fault(uint64_t page)
{
	const struct pfstat_record record = {
		.sequence = 1,
		.start_ns = 2000 + 1000 * page,
		.duration_ns = 300,
		.address = MAPPED + page * page_size(),
		.pgoff = page,
		.inode = status_of_data().st_ino,
		.dev = device_of_data(),
		.pid = 50,
		.tid = 50,
		.class = PFSTAT_CLASS_LONG,
		.result = PFSTAT_RESULT_LOCKED,
	};

	add(ITEM_RECORD, record.start_ns + record.duration_ns, &record);
}

/* Another thread's request, which read(2) submitted. */
static void add_request(uint64_t page, uint32_t pages)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .flags = PFSTAT_BLOCK_FILE,
			   .pid = 50,
			   .tid = 51,
			   .ns = 1900 },
		.insert_ns = 1600,
		.issue_ns = 1700,
		.inode = status_of_data().st_ino,
		.fs_dev = device_of_data(),
		.pgoff = page,
		.bytes = pages * page_size(),
		.file_bytes = pages * page_size(),
	};

	add(ITEM_EVENT, block.event.ns, &block);
}

static void begin(unsigned int run, int64_t started_s, bool have_bpf)
{
	struct report report;
	json_t *head;

	report_init(&report);
	strcpy(report.environment.kind, "record");
	report.environment.page_bytes = page_size();
	report.environment.started_s = started_s;
	report.bpf.known = have_bpf;
	report.bpf.hooks = hooks;
	report.environment.exact = exact;
	head = json_head(&report);
	ck_assert_ptr_nonnull(head);
	out = fopen(names[run], "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	json_decref(head);
	report_exit(&report);
}

static void end(bool have_bpf)
{
	struct run_counters counters;
	json_t *tail;

	run_counters_init(&counters);
	counters.start_ns = 1000;
	counters.end_ns = 90000;
	counters.have_bpf = have_bpf;
	counters.lost = 0;
	counters.exact = (struct exact_reach){ .programs = reached };
	tail = counters_json(&counters);
	ck_assert_int_eq(recording_end(writer, tail), 0);
	ck_assert_int_eq(fclose(out), 0);
	run_counters_exit(&counters);
	json_decref(tail);
}

/* A recording with faults at two pages, 3 and 4. */
static void record_two(unsigned int run, int64_t started_s, bool have_bpf)
{
	begin(run, started_s, have_bpf);
	add_map();
	add_fault(3);
	add_fault(4);
	end(have_bpf);
}

static void make(unsigned int runs)
{
	char *const recordings[] = { names[0], names[1], names[2] };
	const struct prefetch_wish wish = {
		.recordings = recordings,
		.runs = runs,
		.max_bytes = UINT64_MAX,
	};

	prefetch_made_exit(&made);
	ck_assert_int_eq(prefetch_make(&made, &wish), STATUS_OK);
}

static void check_read(size_t index, uint64_t offset, uint64_t bytes)
{
	ck_assert_uint_lt(index, made.list.nr_reads);
	ck_assert_uint_eq(made.list.reads[index].offset, offset);
	ck_assert_uint_eq(made.list.reads[index].bytes, bytes);
}

TEST(test_a_list_has_the_file_as_it_is_now_and_ends_with_it)
{
	begin(0, NOW, true);
	add_map();
	add_request(14, 4); /* two pages are beyond the end of the file */
	add_fault(3);
	end(true);
	make(1);
	ck_assert_uint_eq(made.list.nr_files, 1);
	ck_assert_str_eq(made.list.files[0].path, data);
	ck_assert_uint_eq(made.list.files[0].inode, status_of_data().st_ino);
	ck_assert_int_eq(made.list.files[0].mtime_s, NOW - 1000);
	ck_assert_uint_eq(made.list.nr_reads, 2);
	check_read(0, 14 * page_size(), 2 * page_size() - 100);
	check_read(1, 3 * page_size(), page_size());
	ck_assert_uint_eq(made.all.read_ns, 300 / 2);
	ck_assert_uint_eq(made.cached, 1);
	ck_assert_uint_eq(made.without_requests, 0);
}

TEST(test_a_file_that_no_mapping_names_is_found_by_its_inode)
{
	begin(0, NOW, true);
	add_request(0, 2);
	end(true);
	make(1);
	ck_assert_uint_eq(made.unnamed_files, 0);
	ck_assert_uint_eq(made.list.nr_files, 1);
	ck_assert_str_eq(made.list.files[0].path, data);
}

TEST(test_a_file_that_is_gone_is_counted_with_its_pages)
{
	begin(0, NOW, true);
	add_request(0, 2);
	end(true);
	unlink(data);
	make(1);
	ck_assert_uint_eq(made.unnamed_files, 1);
	ck_assert_uint_eq(made.unnamed_pages, 2);
	ck_assert_uint_eq(made.list.nr_files, 0);
}

TEST(test_another_file_with_the_name_is_left_out)
{
	record_two(0, NOW, true);
	ck_assert_int_eq(rename(data, names[1]), 0); /* the inode stays in use */
	make_data();
	make(1);
	ck_assert_uint_eq(made.changed_files, 1);
	ck_assert_uint_eq(made.list.nr_files, 0);
}

/* Also if enough recordings began after the change. */
TEST(test_a_file_that_changed_after_any_recording_began_is_left_out)
{
	record_two(0, NOW - 500, true);
	record_two(1, NOW, true);
	record_two(2, NOW, true);
	make(3);
	ck_assert_uint_eq(made.changed_files, 0);
	ck_assert_uint_eq(made.list.nr_files, 1);
	change_at(data, NOW - 100);
	make(3);
	ck_assert_uint_eq(made.changed_files, 1);
	ck_assert_uint_eq(made.list.nr_files, 0);
	ck_assert_uint_eq(made.pages_seen, 0);
}

TEST(test_cached_pages_are_not_counted_without_ebpf)
{
	record_two(0, NOW, true);
	record_two(1, NOW, false);
	make(2);
	ck_assert_uint_eq(made.cached, 2); /* from the first recording, which has no request */
	ck_assert_uint_eq(made.without_requests, 1);
}

/* The program is executed, and a page faults. */
static void record_exact(uint64_t programs)
{
	exact = true;
	reached = programs;
	begin(0, NOW, true);
	add_exec();
	add_map();
	add_fault(3);
	end(true);
	make(1);
	exact = false;
	reached = COUNT_NA;
}

TEST(test_a_recording_is_exact_only_if_each_program_start_was_reached)
{
	record_exact(1);
	ck_assert_uint_eq(made.exact, 1);
	record_exact(0);
	ck_assert_uint_eq(made.exact, 0);
	record_exact(COUNT_NA); /* with the module */
	ck_assert_uint_eq(made.exact, 1);
	record_two(0, NOW, true);
	make(1);
	ck_assert_uint_eq(made.exact, 0);
	ck_assert_uint_eq(made.list.nr_reads, 1);
}

/* perf has no requests, so a page without one may have been read for the fault. */
TEST(test_cached_pages_are_not_counted_in_recordings_of_perf)
{
	char *text = NULL;
	size_t length;
	FILE *printed = open_memstream(&text, &length);

	hooks = 1U << HOOK_PERF;
	record_two(0, NOW, true);
	make(1);
	hooks = 0;
	ck_assert_uint_eq(made.cached, 0);
	ck_assert_uint_eq(made.without_requests, 1);
	ck_assert_uint_eq(made.of_perf, 1);
	ck_assert_int_eq(prefetch_report_made(printed, &made, "list"), 0);
	fclose(printed);
	ck_assert_ptr_nonnull(strstr(text,
				     "Recordings by perf: 1. They have only each fault's page"));
	free(text);
	record_two(0, NOW, true);
	make(1);
	ck_assert_uint_eq(made.of_perf, 0);
}

FIXTURE(make_folder, remove_folder);
