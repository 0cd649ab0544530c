// SPDX-License-Identifier: GPL-2.0-only
/* A recording keeps the name and the events, however writing stops. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "runner.h"
#include "text_file.h"
#include "user/util/signals.h"
#include "user/privilege/output.h"
#include "user/recording/counters_json.h"
#include "user/recording/reader.h"
#include "user/recording/writer.h"
#include "user/run/recording_output.h"
#include "util/why.h"

#define NR_ITEMS 200000U
#define LIMIT	 (1U << 20) /* file size limit: fewer items fit */

static char folder[40];
static struct report report;
static struct run_counters counters;
static struct recording_output recording;

static void make_folder(void)
{
	strcpy(folder, "/tmp/pfstat-recording-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_ptr_nonnull(freopen("err", "w", stderr));
	signals_init();
	report_init(&report);
	run_counters_init(&counters);
	counters.calls = NR_ITEMS;
	counters.lost = 0;
	recording = (struct recording_output){ 0 };
}

static void remove_folder(void)
{
	unlink("run.pfs");
	unlink("run.pfs.old");
	unlink("err");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0); /* no temporary file is left */
}

static void begin(void)
{
	ck_assert_int_eq(recording_output_begin(&recording, "run.pfs", &report), 0);
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
		.ip = number,
	};
}

/* Number of accepted items. */
static unsigned int add(unsigned int nr)
{
	struct item item = { .type = ITEM_RECORD };
	unsigned int taken = 0, i;
	struct pfstat_record record;

	for (i = 0; i < nr; i++) {
		record = record_number(i);
		item.record = &record;
		item.ns = record.start_ns + record.duration_ns;
		taken += !recording_output_item(&recording, &item);
	}
	return taken;
}

static int end(const char *cut)
{
	return recording_output_end(&recording, NULL, &counters, cut);
}

/* Number of readable items. The caller closes *reader. */
static unsigned int read_back(struct recording_reader **reader)
{
	struct pfstat_record expected;
	unsigned int nr = 0;
	struct item item;
	struct why why;

	ck_assert_int_eq(recording_open(reader, "run.pfs", &why), 0);
	while (recording_next(*reader, &item) == 1) {
		expected = record_number(nr++);
		/* Each ck_assert() writes to a Check file, which RLIMIT_FSIZE also limits. */
		if (item.type != ITEM_RECORD || memcmp(item.record, &expected, sizeof(expected)))
			ck_abort_msg("item %u is another", nr - 1);
	}
	return nr;
}

static void check_text(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *in = fopen(path, "r");

	ck_assert_msg(in, "no %s", path);
	ck_assert(fgets(text, sizeof(text), in) || !*expected);
	fclose(in);
	ck_assert_str_eq(text, expected);
}

TEST(test_complete_recording_has_no_damage)
{
	struct recording_reader *reader;
	struct stat status;

	begin();
	recording_output_go(&recording);
	ck_assert_uint_eq(add(5000), 5000);
	ck_assert_int_eq(end(NULL), 0);
	ck_assert_uint_eq(read_back(&reader), 5000);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
	/* No space stays reserved beyond the end of the file. */
	ck_assert_int_eq(stat("run.pfs", &status), 0);
	ck_assert_int_lt(512 * status.st_blocks, status.st_size + 32768);
	check_text("err", "");
}

/* Counts the items, which must come in order. */
static int expect_next(void *context, const struct item *item)
{
	unsigned int *nr = context;
	const struct pfstat_record expected = record_number((*nr)++);

	return item->type == ITEM_RECORD && !memcmp(item->record, &expected, sizeof(expected)) ?
		       0 :
		       -EINVAL;
}

TEST(test_a_replay_has_all_items_and_the_recording_goes_on)
{
	struct recording_reader *reader;
	unsigned int nr = 0;

	begin();
	recording_output_go(&recording);
	ck_assert_uint_eq(add(50000), 50000);
	ck_assert_int_eq(recording_output_replay(&recording, expect_next, &nr), 0);
	ck_assert_uint_eq(nr, 50000);
	ck_assert_int_eq(end(NULL), 0);
	ck_assert_uint_eq(read_back(&reader), 50000);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
}

TEST(test_a_replay_reports_the_error_of_its_sink)
{
	unsigned int nr = 1; /* for another item */

	begin();
	ck_assert_uint_eq(add(10), 10);
	ck_assert_int_eq(recording_output_replay(&recording, expect_next, &nr), -EINVAL);
	ck_assert_uint_eq(nr, 2);
	recording_output_close(&recording);
}

/* Some blocks did not fit, others were not tried. */
TEST(test_a_replay_has_the_items_that_did_not_fit_on_the_disk)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	unsigned int accepted, nr = 0;
	uint64_t written;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin();
	recording_output_go(&recording);
	accepted = add(NR_ITEMS);
	ck_assert_uint_lt(accepted, NR_ITEMS);
	ck_assert_int_eq(recording_output_replay(&recording, expect_next, &nr), 0);
	ck_assert_uint_eq(nr, accepted);
	written = recording_written(recording.writer).items;
	ck_assert_uint_gt(written, 0);
	ck_assert_uint_lt(written, accepted);
	recording_output_close(&recording);
}

TEST(test_an_older_file_is_kept)
{
	text_file_write("run.pfs", "older");
	text_file_write("run.pfs.old", "oldest");
	begin();
	check_text("run.pfs", "older");
	recording_output_go(&recording);
	check_text("run.pfs.old", "older");
	ck_assert_int_eq(end(NULL), 0);
	check_text("run.pfs.old", "older");
}

TEST(test_a_file_may_get_its_name_when_it_is_complete)
{
	struct recording_reader *reader;

	text_file_write("run.pfs", "older");
	begin();
	ck_assert_uint_eq(add(10), 10);
	check_text("run.pfs", "older");
	ck_assert_int_eq(end(NULL), 0);
	check_text("run.pfs.old", "older");
	ck_assert_uint_eq(read_back(&reader), 10);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
}

TEST(test_an_older_file_that_is_empty_is_replaced)
{
	text_file_write("run.pfs", "");
	begin();
	recording_output_go(&recording);
	ck_assert_int_eq(end(NULL), 0);
	ck_assert_int_eq(access("run.pfs.old", F_OK), -1);
}

/* Neither a recording nor another file replaces it. */
TEST(test_a_recording_that_is_being_written_is_not_replaced)
{
	struct recording_output second = { 0 };
	struct output *output;

	unlink("run.pfs");
	begin();
	recording_output_go(&recording);
	ck_assert_int_eq(recording_output_begin(&second, "run.pfs", &report), -EBUSY);
	ck_assert_int_eq(recording_output_report(&second, ""), 1);
	fflush(stderr);
	text_file_check("err", "cannot write run.pfs: another recording is being written to it");
	ck_assert_int_eq(output_open(&output, "run.pfs"), -EBUSY);
	ck_assert_uint_eq(add(10), 10);
	ck_assert_int_eq(end(NULL), 0);
	ck_assert_int_eq(output_open(&output, "run.pfs"), 0);
	output_close(output);
	ck_assert_int_eq(access("run.pfs.old", F_OK), -1);
}

/* FILE.old cannot be replaced, so the recording keeps the temporary name. */
TEST(test_failed_rename_is_an_error_without_data_loss)
{
	char name[64] = "";
	struct stat status;

	text_file_write("run.pfs", "older");
	ck_assert_int_eq(mkdir("run.pfs.old", 0700), 0);
	begin();
	recording_output_go(&recording);
	snprintf(name, sizeof(name), "%s", output_path(recording.output));
	ck_assert_uint_eq(add(10), 10);
	ck_assert_int_eq(end(NULL), 1);
	fflush(stderr);
	text_file_check("err", "cannot rename the recording: Is a directory; it is in ");
	check_text("run.pfs", "older");
	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_int_gt(status.st_size, 100);
	unlink(name);
	rmdir("run.pfs.old");
}

TEST(test_recording_that_never_started_keeps_the_older_file)
{
	text_file_write("run.pfs", "older");
	begin();
	recording_output_close(&recording);
	check_text("run.pfs", "older");
	ck_assert_int_eq(access("run.pfs.old", F_OK), -1);
}

TEST(test_a_killed_recorder_leaves_the_file)
{
	struct recording_reader *reader;
	unsigned int nr;
	pid_t child;

	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		begin();
		recording_output_go(&recording);
		add(NR_ITEMS);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	nr = read_back(&reader);
	ck_assert_uint_gt(nr, 0);
	ck_assert_ptr_nonnull(strstr(recording_damage(reader), "was cut: it has no end"));
	recording_close(reader);
}

/* EFBIG. A full disk fails in the same way. */
TEST(test_full_disk_keeps_the_first_events_and_counts_the_rest)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	struct recording_reader *reader;
	struct run_counters read;
	unsigned int nr;
	char text[96];

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin();
	recording_output_go(&recording);
	ck_assert_uint_lt(add(NR_ITEMS), NR_ITEMS);
	ck_assert_int_eq(end(NULL), 1);
	nr = read_back(&reader);
	ck_assert_uint_gt(nr, 0);
	ck_assert_str_eq(recording_damage(reader),
			 "run.pfs was cut: cannot write to it: File too large");
	ck_assert_int_eq(counters_json_parse(&read, recording_tail(reader)), 0);
	ck_assert_uint_eq(read.calls, NR_ITEMS);
	ck_assert_uint_eq(read.lost, NR_ITEMS - nr);
	recording_close(reader);
	snprintf(text, sizeof(text), "can read the first %u of %u items; raise the file size limit",
		 nr, NR_ITEMS);
	fflush(stderr);
	text_file_check("err", text);
}

/* All items are in the file, whatever error the measurement had. */
TEST(test_an_error_of_the_measurement_is_in_the_file)
{
	struct recording_reader *reader;

	begin();
	recording_output_go(&recording);
	add(10);
	counters.calls = COUNT_NA;
	ck_assert_int_eq(end("cannot stop the module: Input/output error"), 1);
	ck_assert_uint_eq(read_back(&reader), 10);
	ck_assert_str_eq(recording_damage(reader), "run.pfs was cut: cannot stop the module: "
						   "Input/output error");
	recording_close(reader);
	fflush(stderr);
	text_file_check(
		"err",
		"pfdrive: run.pfs is incomplete: cannot stop the module: Input/output error; "
		"'pfdrive report' can read the 10 items\n");
}

TEST(test_a_refused_event_ends_the_recording_after_the_previous_ones)
{
	struct pfstat_record bad = { .class = PFSTAT_NR_CLASSES };
	const struct item item = { .type = ITEM_RECORD, .record = &bad };
	struct recording_reader *reader;

	begin();
	recording_output_go(&recording);
	add(10);
	ck_assert_int_eq(recording_output_item(&recording, &item), -EINVAL);
	ck_assert_uint_eq(add(10), 0);
	ck_assert_int_eq(end(NULL), 1);
	ck_assert_uint_eq(read_back(&reader), 10);
	ck_assert_ptr_nonnull(strstr(recording_damage(reader), "was cut: "));
	recording_close(reader);
}

FIXTURE(make_folder, remove_folder);
