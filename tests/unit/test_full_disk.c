// SPDX-License-Identifier: GPL-2.0-only
/* Wherever a recording stops to fit on the disk, readers get the items before. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"
#include "runner.h"
#include "text_file.h"
#include "user/recording/counters_json.h"
#include "user/recording/reader.h"
#include "user/run/recording_output.h"
#include "util/why.h"

#define NR_ITEMS  40U
#define TAIL_ROOM (16U << 10) /* for blocks.c */
#define UNLIMITED -1L

static char folder[40];
static struct report report;

/* All tests are in one program: the libc functions are replaced only in tests in this file. */
static bool replaced;

/* As on a file system unable to reserve room. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
	if (!replaced)
		return syscall(SYS_fallocate, fd, mode, offset, length);
	errno = EOPNOTSUPP;
	return -1;
}

/* Thousands of recordings do not wait for the disk. */
int fsync(int fd)
{
	return replaced ? 0 : syscall(SYS_fsync, fd);
}

static void make_folder(void)
{
	replaced = true;
	strcpy(folder, "/tmp/pfstat-full-disk-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_ptr_nonnull(freopen("err", "w", stderr));
	signal(SIGXFSZ, SIG_IGN);
	report_init(&report);
}

static void remove_folder(void)
{
	unlink("run.pfs");
	unlink("err");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0); /* no temporary file is left */
}

static struct pfstat_record record_number(uint64_t number)
{
	uint64_t seed = number;

	return (struct pfstat_record){
		.pid = 1,
		.tid = 1,
		.start_ns = 1000 * number,
		.duration_ns = 500,
		.address = random_next(&seed),
		.inode = random_next(&seed),
	};
}

/* Writes fail from this byte in a file on. This also affects Check, so no ck_assert() meanwhile. */
static void limit_files(long bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		abort();
	limit.rlim_cur = bytes; /* RLIM_INFINITY is -1 */
	if (setrlimit(RLIMIT_FSIZE, &limit))
		abort();
}

/* The outcome of a recording on a full disk. */
struct outcome {
	int begin_err, status;
	long bytes; /* file size, or -1 without a file */
	unsigned int items;
	bool have_tail;
};

static void read_back(struct outcome *outcome, long limit)
{
	struct recording_reader *reader;
	struct pfstat_record expected;
	struct run_counters counters;
	struct item item;
	struct why why;
	int more;

	ck_assert_msg(!recording_open(&reader, "run.pfs", &why), "%ld: %s", limit, why.text);
	while ((more = recording_next(reader, &item)) == 1) {
		expected = record_number(outcome->items++);
		ck_assert_int_eq(item.type, ITEM_RECORD);
		ck_assert_mem_eq(item.record, &expected, sizeof(expected));
	}
	ck_assert_int_eq(more, 0);
	outcome->have_tail = recording_tail(reader);
	ck_assert(!recording_damage(reader) == !outcome->status);
	if (outcome->status)
		ck_assert_str_eq(recording_damage(reader),
				 outcome->have_tail ?
					 "run.pfs was cut: cannot write to it: File too large" :
					 "run.pfs was cut: it has no end");
	if (outcome->have_tail) {
		ck_assert_int_eq(counters_json_parse(&counters, recording_tail(reader)), 0);
		ck_assert_uint_eq(counters.lost, NR_ITEMS - outcome->items);
		run_counters_exit(&counters);
	}
	recording_close(reader);
}

/*
 * Records NR_ITEMS. The recorder knows a limit that it finds at the start, and reserves room for
 * the end. A later limit fails a write(2), like a disk that cannot reserve room.
 */
static struct outcome record_within(long limit, bool known)
{
	struct recording_output recording = { 0 };
	struct item item = { .type = ITEM_RECORD };
	struct outcome outcome = { 0 };
	struct run_counters counters;
	struct pfstat_record record;
	struct stat status;
	unsigned int i;

	run_counters_init(&counters);
	counters.calls = NR_ITEMS;
	counters.lost = 0;
	unlink("run.pfs");
	if (known)
		limit_files(limit);
	outcome.begin_err = recording_output_begin(&recording, "run.pfs", &report);
	limit_files(limit);
	recording_output_go(&recording);
	for (i = 0; i < NR_ITEMS; i++) {
		record = record_number(i);
		item.record = &record;
		item.ns = record.start_ns + record.duration_ns;
		recording_output_item(&recording, &item);
	}
	outcome.status = recording_output_end(&recording, NULL, &counters, NULL);
	recording_output_close(&recording);
	limit_files(UNLIMITED);
	run_counters_exit(&counters);
	outcome.bytes = stat("run.pfs", &status) ? -1 : status.st_size;
	if (!outcome.begin_err)
		read_back(&outcome, limit);
	return outcome;
}

TEST(test_a_known_limit_keeps_what_fits_and_the_counts_at_each_size)
{
	const struct outcome all = record_within(UNLIMITED, true);
	unsigned int items = 0, steps = 0;
	struct outcome one;
	long limit;

	ck_assert_int_eq(all.status, 0);
	ck_assert_uint_eq(all.items, NR_ITEMS);
	for (limit = 0; limit < TAIL_ROOM + all.bytes; limit++) {
		one = record_within(limit, true);
		if (one.begin_err) {
			ck_assert_int_eq(one.begin_err, -EFBIG);
			ck_assert_int_eq(one.bytes, -1);
			ck_assert_uint_eq(items, 0);
			limit += limit < TAIL_ROOM ? 500 : 0;
			continue;
		}
		ck_assert(one.have_tail);
		ck_assert_int_le(one.bytes, limit);
		ck_assert_uint_ge(one.items, items);
		steps += one.items > items;
		items = one.items;
	}
	/* A block too large to fit is not lost as a whole. */
	ck_assert_uint_gt(steps, NR_ITEMS / 4);
	ck_assert_uint_eq(items, NR_ITEMS);
}

TEST(test_a_write_that_fails_at_any_byte_leaves_whole_blocks)
{
	const struct outcome all = record_within(UNLIMITED, false);
	unsigned int most = 0;
	long head = 0, tail = 0;
	struct outcome one;
	long limit;

	for (limit = 0; limit < all.bytes; limit++) {
		one = record_within(limit, false);
		ck_assert_int_eq(one.begin_err, 0);
		ck_assert_int_eq(one.status, 1);
		if (!limit)
			head = one.bytes;
		ck_assert_int_le(one.bytes, limit > head ? limit : head);
		if (one.have_tail && !tail)
			tail = one.bytes - head;
		ck_assert(one.have_tail == (tail != 0)); /* also with each larger size */
		if (one.items > most)
			most = one.items;
	}
	ck_assert_int_gt(head, 0);
	ck_assert_int_gt(tail, 0);
	ck_assert_uint_gt(most, NR_ITEMS / 3);
	ck_assert_int_eq(record_within(all.bytes, false).status, 0);
}

FIXTURE(make_folder, remove_folder);
