// SPDX-License-Identifier: GPL-2.0-only
/* The faults on one file in a recording, which is read twice. */
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "apps/advise/replay.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"
#include "user/util/message.h"
#include "user/util/page_size.h"
#include "user/util/signals.h"

#define MAPPED	 0x7f0000000000UL
#define FAULTS	 300
#define FILE_DEV (8 << 20)

static char folder[32];

static void make_folder(void)
{
	strcpy(folder, "/tmp/pfstat-recorded-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
	unlink("run.pfs");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void add(struct recording_writer *writer, enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	ck_assert_int_eq(recording_add(writer, &item), 0);
}

static uint32_t map_flags; /* the mapping's page offset in the file */
static bool with_advice;

static void add_advice(struct recording_writer *writer)
{
	const struct pfstat_advice advice = {
		.event = { .type = PFSTAT_EVENT_ADVICE,
			   .size = sizeof(advice),
			   .pid = 50,
			   .tid = 51,
			   .ns = 990000 },
		.start_ns = 980000,
		.address = MAPPED + 8 * page_size(),
		.bytes = 5000,
		.advice = MADV_RANDOM,
	};

	if (with_advice)
		add(writer, ITEM_EVENT, advice.event.ns, &advice);
}

static void add_map(struct recording_writer *writer, const char *path, uint64_t inode)
{
	const size_t bytes = strlen(path) + 1;
	struct item_map *map = calloc(1, sizeof(*map) + bytes);

	ck_assert_ptr_nonnull(map);
	*map = (struct item_map){
		.address = MAPPED,
		.bytes = 1UL << 30,
		.inode = inode,
		.dev = FILE_DEV,
		.pid = 50,
		.tid = 50,
		.flags = map_flags,
		.path_bytes = bytes,
	};
	memcpy(map->path, path, bytes);
	add(writer, ITEM_MAP, 0, map);
	free(map);
}

static void add_faults(struct recording_writer *writer, uint64_t inode)
{
	struct pfstat_record record;
	unsigned int i;

	for (i = 0; i < FAULTS; i++) {
		record = (struct pfstat_record){
			.sequence = i + 1,
			.start_ns = 1000000 + 10000 * i,
			.duration_ns = 3000,
			.address = MAPPED + page_size() * i,
			.pgoff = i,
			.inode = inode,
			.dev = FILE_DEV,
			.pid = 50,
			.tid = 51,
			.class = PFSTAT_CLASS_LONG,
			.result = PFSTAT_RESULT_LOCKED,
		};
		add(writer, ITEM_RECORD, record.start_ns + record.duration_ns, &record);
	}
}

/* All faults are on one file. */
static void make_recording(const char *path, uint64_t inode)
{
	FILE *out = fopen("run.pfs", "w");
	json_t *head = json_pack("{s{sI}}", "environment", "page_bytes", (json_int_t)page_size());
	struct recording_writer *writer;
	struct run_counters counters;
	json_t *tail;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	add_map(writer, path, inode);
	add_advice(writer);
	add_faults(writer, inode);
	run_counters_init(&counters);
	counters.lost = 7;
	counters.have_bpf = true;
	counters.have_advice = with_advice;
	counters.counts[PFSTAT_COUNT_EVENTS_LOST] = 5;
	counters.counts[PFSTAT_COUNT_SYSCALL_LOST] = 3;
	tail = counters_json(&counters);
	ck_assert_int_eq(recording_end(writer, tail), 0);
	ck_assert_int_eq(fclose(out), 0);
	run_counters_exit(&counters);
	json_decref(head);
	json_decref(tail);
}

TEST(test_the_costliest_file_is_found)
{
	struct recorded_file file;

	make_recording("/lib/first.so", 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_OK);
	ck_assert_str_eq(file.path, "/lib/first.so");
	ck_assert_uint_eq(file.replay.count, FAULTS);
	ck_assert_uint_eq(file.lost, 7);
	ck_assert_uint_eq(file.events_lost, 8);
	ck_assert_uint_eq(file.replay.visits[1].page, 1);
	ck_assert_uint_eq(file.replay.visits[1].end_ns, 7000);
	recorded_file_exit(&file);
}

TEST(test_advice_of_the_file_is_taken)
{
	struct recorded_file file;

	with_advice = true;
	map_flags = MAP_SHARED | ITEM_MAP_SEQUENTIAL;
	make_recording("/lib/first.so", 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_OK);
	ck_assert(file.have_advice);
	ck_assert_uint_eq(file.replay.nr_advices, 2);
	ck_assert_int_eq(file.replay.advices[0].advice, MADV_SEQUENTIAL);
	ck_assert_uint_eq(file.replay.advices[0].page, 0);
	ck_assert_uint_eq(file.replay.advices[0].pages, (1UL << 30) / page_size());
	ck_assert_int_eq(file.replay.advices[1].advice, MADV_RANDOM);
	ck_assert_uint_eq(file.replay.advices[1].page, 8);
	/* A page partly covered by the advice counts in full. */
	ck_assert_uint_eq(file.replay.advices[1].pages, 2);
	ck_assert_uint_eq(file.replay.advices[1].before, 0);
	ck_assert_uint_eq(file.replay.visits[0].end_ns, 10000);
	recorded_file_exit(&file);
}

TEST(test_mappings_with_unknown_advice_are_counted)
{
	struct recorded_file file;

	map_flags = MAP_SHARED | ITEM_MAP_NO_ADVICE;
	make_recording("/lib/first.so", 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_OK);
	ck_assert_uint_eq(file.no_advice, 1);
	recorded_file_exit(&file);
}

TEST(test_an_old_recording_does_not_know_the_advice)
{
	struct recorded_file file;

	make_recording("/lib/first.so", 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_OK);
	ck_assert(!file.have_advice);
	ck_assert_uint_eq(file.replay.nr_advices, 0);
	recorded_file_exit(&file);
}

TEST(test_a_file_without_faults_is_refused)
{
	struct recorded_file file;

	make_recording("/lib/first.so", 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", "/lib/second.so"), STATUS_FAILED);
	recorded_file_exit(&file);
	ck_assert_int_eq(recorded_file_read(&file, "none.pfs", NULL), STATUS_FAILED);
	recorded_file_exit(&file);
}

/* The file is replayed by name, and a truncated name would be another file's. */
TEST(test_a_name_that_is_too_long_is_refused)
{
	struct recorded_file file;
	char path[5000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	make_recording(path, 100);
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_FAILED);
	recorded_file_exit(&file);
}

TEST(test_a_signal_ends_the_reading)
{
	struct recorded_file file;

	make_recording("/lib/first.so", 100);
	signals_caught = SIGINT;
	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), 128 + SIGINT);
	recorded_file_exit(&file);
	signals_caught = 0;
}

/* Waits until a reader has closed the pipe. */
static void await_close(int watch)
{
	struct inotify_event event;

	if (read(watch, &event, sizeof(event)) != sizeof(event))
		_exit(EXIT_FAILURE);
}

static void put(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		_exit(EXIT_FAILURE);
	close(fd);
}

static size_t take_recording(char *bytes, size_t size)
{
	FILE *in = fopen("run.pfs", "r");
	size_t got;

	ck_assert_ptr_nonnull(in);
	got = fread(bytes, 1, size, in);
	ck_assert_uint_lt(got, size);
	fclose(in);
	unlink("run.pfs");
	return got;
}

/* A FIFO that gives one recording to the first reader and another one to the second. */
static pid_t make_changing(void)
{
	static char first[1 << 16], second[1 << 16];
	size_t first_size, second_size;
	int watch = inotify_init1(IN_CLOEXEC);
	pid_t child;

	make_recording("/lib/first.so", 100);
	first_size = take_recording(first, sizeof(first));
	make_recording("/lib/second.so", 200);
	second_size = take_recording(second, sizeof(second));
	ck_assert_int_eq(mkfifo("run.pfs", 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, "run.pfs", IN_CLOSE_NOWRITE), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child) {
		close(watch);
		return child;
	}
	put("run.pfs", first, first_size);
	await_close(watch);
	put("run.pfs", second, second_size);
	_exit(EXIT_SUCCESS);
}

/* The number of visits is a divisor. */
TEST(test_file_without_visits_is_refused)
{
	const pid_t child = make_changing();
	struct recorded_file file;
	int status;

	ck_assert_int_eq(recorded_file_read(&file, "run.pfs", NULL), STATUS_FAILED);
	ck_assert_str_eq(file.path, "/lib/first.so");
	ck_assert_uint_eq(file.replay.count, 0);
	recorded_file_exit(&file);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

FIXTURE(make_folder, remove_folder);
