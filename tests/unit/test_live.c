// SPDX-License-Identifier: GPL-2.0-only
/* The live view shows only the growth between two updates. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "apps/live/live.h"
#include "user/util/time_ns.h"

#define BY_FILE	  (1 << GROUP_BY_FILE)
#define BY_THREAD (1 << GROUP_BY_THREAD)
#define START	  50000000000ULL

static struct group files[200], threads[200];

static void group_set(struct group *group, const char *name, uint64_t inode, uint64_t faults,
		      uint64_t total_ns)
{
	*group = (struct group){ .inode = inode,
				 .dev = 1,
				 .number = inode,
				 .faults = faults,
				 .total_ns = total_ns,
				 .name = name };
}

static void thread_set(struct group *group, const char *name, uint32_t tid, uint64_t faults,
		       uint64_t total_ns)
{
	*group = (struct group){ .pid = 7,
				 .tid = tid,
				 .faults = faults,
				 .total_ns = total_ns,
				 .name = name,
				 .number = tid };
}

/* 2000 long faults of 3 µs and 500 disk faults of 100 µs, in two files, by one thread. */
static struct live_snapshot sample(void)
{
	struct live_snapshot snapshot = {
		.counters = { 0, COUNT_NA },
		.major = 500,
		.groups = { [GROUP_BY_FILE] = files, [GROUP_BY_THREAD] = threads },
		.nr = { [GROUP_BY_FILE] = 2, [GROUP_BY_THREAD] = 1 },
	};

	snapshot.faults[PFSTAT_CLASS_LONG] = 2000;
	snapshot.total_ns[PFSTAT_CLASS_LONG] = 6000000;
	snapshot.faults[PFSTAT_CLASS_DISK] = 500;
	snapshot.total_ns[PFSTAT_CLASS_DISK] = 50000000;
	group_set(&files[0], "/data/a", 10, 500, 50000000);
	group_set(&files[1], "/data/b", 11, 2000, 6000000);
	thread_set(&threads[0], "cat (7)", 7, 2500, 56000000);
	return snapshot;
}

static char *print(const struct live *live, bool terminal, unsigned int rows, unsigned int columns)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(live_print(live, out, terminal, rows, columns), 0);
	fclose(out);
	return text;
}

static void check_prints(const struct live *live, const char *right)
{
	char *text = print(live, false, 0, 0);

	ck_assert_str_eq(text, right);
	free(text);
}

static struct live *live_of(unsigned int by, const struct live_snapshot *snapshot, uint64_t ns)
{
	struct live *live = live_new(by, START);

	ck_assert_ptr_nonnull(live);
	ck_assert_int_eq(live_take(live, snapshot, START + ns), 0);
	return live;
}

TEST(test_first_update_covers_the_time_since_the_start)
{
	static const char right[] =
		"2.0 s  1250.0 faults/s  250.0 major/s  28.0 ms/s  lost: 0 records, n/a events\n"
		"      ms/s      Faults/s       Mean µs  Class\n"
		"      25.0         250.0        100.00  disk\n"
		"       3.0        1000.0          3.00  long\n"
		"      ms/s      Faults/s       Mean µs  File\n"
		"      25.0         250.0        100.00  /data/a\n"
		"       3.0        1000.0          3.00  /data/b\n"
		"      ms/s      Faults/s       Mean µs  Thread\n"
		"      28.0        1250.0         22.40  cat (7)\n"
		"\n";
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE | BY_THREAD, &snapshot, 2 * SECOND);

	check_prints(live, right);
	live_free(live);
}

TEST(test_second_update_shows_only_new_faults)
{
	static const char right[] =
		"1.5 s  20.0 faults/s  8.0 major/s  4.0 ms/s  lost: 3 records, n/a events\n"
		"      ms/s      Faults/s       Mean µs  Class\n"
		"       4.0          20.0        200.00  disk\n"
		"      ms/s      Faults/s       Mean µs  File\n"
		"       4.0          20.0        200.00  /data/b\n"
		"      ms/s      Faults/s       Mean µs  Thread\n"
		"       4.0          20.0        200.00  grep (7)\n"
		"\n";
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE | BY_THREAD, &snapshot, SECOND);

	/* Ten 200 µs disk faults in b. The thread has been renamed in between. */
	snapshot.faults[PFSTAT_CLASS_DISK] += 10;
	snapshot.total_ns[PFSTAT_CLASS_DISK] += 2000000;
	snapshot.major += 4;
	snapshot.counters.lost_records = 3;
	group_set(&files[1], "/data/b", 11, 2010, 8000000);
	thread_set(&threads[0], "grep (7)", 7, 2510, 58000000);
	ck_assert_int_eq(live_take(live, &snapshot, START + SECOND + SECOND / 2), 0);
	check_prints(live, right);
	live_free(live);
}

TEST(test_quiet_interval_prints_zero_and_empty_tables)
{
	static const char right[] =
		"2.0 s  0.0 faults/s  0.0 major/s  0.0 ms/s  lost: 0 records, n/a events\n"
		"      ms/s      Faults/s       Mean µs  Class\n"
		"      ms/s      Faults/s       Mean µs  File\n"
		"\n";
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE, &snapshot, SECOND);

	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	check_prints(live, right);
	live_free(live);
}

TEST(test_view_without_the_module_states_its_source)
{
	struct live_snapshot snapshot = sample();
	struct live *live;
	char *text;

	snapshot.counters.source_note = "measured with eBPF, without the pfstat module";
	live = live_of(BY_FILE, &snapshot, SECOND);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text,
				     " events\nmeasured with eBPF, without the pfstat module\n"));
	free(text);
	live_free(live);
}

TEST(test_only_requested_tables_are_shown)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_THREAD, &snapshot, SECOND);
	char *text = print(live, false, 0, 0);

	ck_assert_ptr_null(strstr(text, "File"));
	ck_assert_ptr_nonnull(strstr(text, "Thread"));
	free(text);
	live_free(live);
}

/* Rows are sorted by the interval's cost. The analysis sorts by the total. */
TEST(test_costliest_of_the_interval_comes_first)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE, &snapshot, SECOND);
	char *text;

	group_set(&files[0], "/data/a", 10, 501, 50000100);
	group_set(&files[1], "/data/b", 11, 2001, 7000000);
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert(strstr(text, "/data/b") < strstr(text, "/data/a"));
	free(text);
	live_free(live);
}

/* 200 groups, each 1 ns more expensive than the one before, in shuffled order. */
TEST(test_many_groups_keep_the_costliest)
{
	struct live_snapshot snapshot = sample();
	struct live *live;
	char *text, *line;
	char names[200][16], name[32];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(names[i], sizeof(names[i]), "/f/%d/", i);
		group_set(&files[i * 77 % 200], names[i], 100 + i, 1, 1000000 + i * 10000);
	}
	snapshot.nr[GROUP_BY_FILE] = 200;
	live = live_of(BY_FILE, &snapshot, SECOND);
	text = print(live, false, 110, 0);
	line = strstr(text, "File\n");
	for (i = 199; i >= 100; i--) {
		line = strchr(line, '\n') + 1;
		snprintf(name, sizeof(name), "  /f/%d/\n", i);
		ck_assert_msg(strstr(line, name) == strchr(line, '\n') + 1 - strlen(name),
			      "not in its place: %s", name);
	}
	ck_assert_ptr_null(strstr(text, "/f/99/"));
	free(text);
	/* In the next update each group is recognized, whatever the group's position. */
	for (i = 0; i < 200; i++)
		group_set(&files[i * 33 % 200], names[i], 100 + i, 1 + (i == 42),
			  1000000 + i * 10000 + (i == 42));
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text, "/f/42/"));
	ck_assert_ptr_null(strstr(text, "/f/43/"));
	ck_assert_ptr_null(strstr(text, "/f/199/"));
	free(text);
	live_free(live);
}

TEST(test_groups_without_a_file_are_distinguished_by_name)
{
	struct live_snapshot snapshot = sample();
	struct live *live;
	char *text;

	group_set(&files[0], "(anonymous)", 0, 10, 1000);
	group_set(&files[1], "(others)", 0, 20, 2000);
	live = live_of(BY_FILE, &snapshot, SECOND);
	group_set(&files[1], "(others)", 0, 25, 7000);
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text, "         5.0          1.00  (others)\n"));
	ck_assert_ptr_null(strstr(text, "(anonymous)"));
	free(text);
	live_free(live);
}

/* "(others)" takes over growth printed for other groups before. */
TEST(test_folded_group_is_no_growth_of_others)
{
	struct live_snapshot snapshot = sample();
	struct live *live;
	char *text;

	group_set(&files[0], "/data/a", 10, 30, 9000);
	group_set(&files[1], "(others)", 0, 20, 2000);
	live = live_of(BY_FILE, &snapshot, SECOND);
	group_set(&files[0], "/data/b", 11, 2, 8000);
	group_set(&files[1], "(others)", 0, 55, 12000);
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text, "         2.0          4.00  /data/b\n"));
	ck_assert_ptr_nonnull(strstr(text, "         5.0          0.20  (others)\n"));
	free(text);
	live_free(live);
}

/* The group was dropped and came back without the former figures. */
TEST(test_dropped_group_restarts_from_zero)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE, &snapshot, SECOND);
	char *text;

	group_set(&files[0], "/data/a", 10, 3, 9000);
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text, "         3.0          3.00  /data/a\n"));
	free(text);
	live_free(live);
}

/* A line's width on a terminal, without escape sequences. */
static unsigned int width_of(const char *line, size_t length)
{
	unsigned int width = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		if (line[i] == '\033') {
			while (i < length && !strchr("HJK", line[i]))
				i++;
			continue;
		}
		width += (line[i] & 0xc0) != 0x80;
	}
	return width;
}

static void check_fits(const char *text, unsigned int rows, unsigned int columns)
{
	unsigned int lines = 0;
	const char *end;

	while ((end = strchr(text, '\n'))) {
		ck_assert_uint_le(width_of(text, end - text), columns);
		ck_assert_ptr_nonnull(memmem(text, end - text, "\033[K", 3));
		text = end + 1;
		lines++;
	}
	/* The cursor stands in the last row: a line feed there would scroll. */
	ck_assert_uint_lt(lines, rows);
}

TEST(test_terminal_is_never_overrun)
{
	struct live_snapshot snapshot = sample();
	unsigned int rows, columns;
	struct live *live;
	char *text;
	int i;

	for (i = 0; i < 200; i++) {
		group_set(&files[i], "/a/very/long/path/that/is/named/by/some/\xc3\xa4\xc3\xb6/x",
			  100 + i, 5, 1000000 + i);
		thread_set(&threads[i], "thread (1)", 100 + i, 5, 1000000 + i);
	}
	snapshot.nr[GROUP_BY_FILE] = 200;
	snapshot.nr[GROUP_BY_THREAD] = 200;
	live = live_of(BY_FILE | BY_THREAD, &snapshot, SECOND);
	for (rows = 1; rows <= 100; rows++) {
		for (columns = 1; columns <= 120; columns += 7) {
			text = print(live, true, rows, columns);
			ck_assert(!strncmp(text, "\033[H", 3));
			ck_assert_str_eq(text + strlen(text) - 3, "\033[J");
			check_fits(text, rows, columns);
			free(text);
		}
	}
	live_free(live);
}

TEST(test_terminal_of_24_rows_is_shared_by_both_tables)
{
	struct live_snapshot snapshot = sample();
	unsigned int nr_files = 0, nr_threads = 0;
	struct live *live;
	char *text, *at;
	int i;

	for (i = 0; i < 200; i++) {
		group_set(&files[i], "/file", 100 + i, 5, 1000000 + i);
		thread_set(&threads[i], "thread", 100 + i, 5, 1000000 + i);
	}
	snapshot.nr[GROUP_BY_FILE] = 200;
	snapshot.nr[GROUP_BY_THREAD] = 200;
	live = live_of(BY_FILE | BY_THREAD, &snapshot, SECOND);
	text = print(live, true, 24, 80);
	for (at = text; (at = strstr(at, "/file")); at++)
		nr_files++;
	for (at = text; (at = strstr(at, "  thread")); at++)
		nr_threads++;
	/* 24 rows less the cursor's, the first line and the four of the classes are 18. */
	ck_assert_uint_eq(nr_files, 7);
	ck_assert_uint_eq(nr_threads, 7);
	free(text);
	live_free(live);
}

TEST(test_file_name_cannot_control_the_terminal)
{
	struct live_snapshot snapshot = sample();
	struct live *live;
	char *text;

	group_set(&files[0], "/a\033[2J\n\x7f\xc2\x9b\xff\xe2\x82(\xc3\xa4", 10, 500, 50000000);
	live = live_of(BY_FILE, &snapshot, SECOND);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text, "  /a?[2J?????\?\?(\xc3\xa4\n"));
	free(text);
	live_free(live);
}

TEST(test_longest_name_is_printed_in_full)
{
	struct live_snapshot snapshot = sample();
	char name[4096], line[sizeof(name) + 8];
	struct live *live;
	char *text;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name[0] = '/';
	group_set(&files[0], name, 10, 0x41424344, 50000000);
	live = live_of(BY_FILE, &snapshot, SECOND);
	text = print(live, false, 0, 0);
	snprintf(line, sizeof(line), "  %s\n", name);
	ck_assert_ptr_nonnull(strstr(text, line));
	free(text);
	live_free(live);
}

static void analyse(struct analysis *analysis, uint32_t tid, uint64_t start_ns,
		    uint64_t duration_ns)
{
	const struct pfstat_record record = {
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.address = start_ns << 12,
		.pgoff = 1,
		.inode = 10,
		.dev = 1,
		.pid = 7,
		.tid = tid,
		.class = PFSTAT_CLASS_LONG,
		.result = PFSTAT_RESULT_LOCKED,
	};
	const struct item item = { .type = ITEM_RECORD,
				   .ns = start_ns + duration_ns,
				   .record = &record };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

TEST(test_update_reads_a_running_analysis)
{
	static const char right[] =
		"2.0 s  3.0 faults/s  0.0 major/s  0.0 ms/s  lost: 5 records, 6 events\n"
		"      ms/s      Faults/s       Mean µs  Class\n"
		"       0.0           3.0          4.00  long\n"
		"      ms/s      Faults/s       Mean µs  Thread\n"
		"       0.0           2.0          5.00  (8)\n"
		"       0.0           1.0          2.00  (9)\n"
		"\n";
	const struct live_counters counters = { .lost_records = 5, .lost_events = 6 };
	struct analysis *analysis = analysis_new(false, 4096, GROUP_BY_ALL);
	struct live *live = live_new(BY_THREAD, START);

	ck_assert(analysis && live);
	analyse(analysis, 8, START + 10, 7000);
	analyse(analysis, 9, START + 10000, 7000);
	ck_assert_int_eq(live_update(live, analysis, &counters, START + SECOND), 0);
	analyse(analysis, 8, START + SECOND, 5000);
	analyse(analysis, 9, START + SECOND + 6000, 2000);
	analyse(analysis, 8, START + SECOND + 9000, 5000);
	ck_assert_int_eq(live_update(live, analysis, &counters, START + 2 * SECOND), 0);
	check_prints(live, right);
	live_free(live);
	analysis_free(analysis);
}

TEST(test_verdict_is_below_the_rates_and_leaves_room_for_the_tables)
{
	const struct live_counters counters = { 0 };
	struct analysis *analysis = analysis_new(false, 4096, GROUP_BY_ALL);
	struct live *live = live_new(BY_THREAD, START);
	char *text;

	ck_assert(analysis && live);
	analyse(analysis, 8, START, SECOND / 4);
	ck_assert_int_eq(live_update(live, analysis, &counters, START + SECOND), 0);
	ck_assert_int_eq(live_judge(live, analysis, false), 0);
	ck_assert_int_eq(live_judge(live, analysis, false), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_nonnull(strstr(text,
				     " events\nPage faults were in progress for at least 25 % "
				     "of the run (1.00 s): 1 fault took 250.0 ms.\n"
				     "Most of it: class long 100 %"));
	free(text);
	/* 11 rows: one for the cursor, one for the rates, three for the verdict */
	text = print(live, false, 11, 50);
	ck_assert_ptr_nonnull(strstr(text, "\nPage faults were in progress for at least 25 % of\n"
					   "  the run (1.00 s): 1 fault took 250.0 ms.\n"
					   "Most of it: class long"));
	ck_assert_ptr_null(strstr(text, "Measure next"));
	ck_assert_ptr_nonnull(strstr(text, "Class\n"));
	free(text);
	live_free(live);
	analysis_free(analysis);
}

TEST(test_empty_interval_has_no_rates)
{
	static const char right[] =
		"0.0 s  0.0 faults/s  0.0 major/s  0.0 ms/s  lost: 0 records, 0 events\n"
		"      ms/s      Faults/s       Mean µs  Class\n"
		"      ms/s      Faults/s       Mean µs  File\n"
		"\n";
	struct live *live = live_new(BY_FILE, START);

	ck_assert_ptr_nonnull(live);
	check_prints(live, right);
	live_free(live);
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE, &snapshot, SECOND);
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(live_print(live, full, false, 0, 0), -ENOSPC);
	fclose(full);
	live_free(live);
}

/* No row for the second thread contains figures from the first. */
TEST(test_a_reused_number_is_another_row)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_THREAD, &snapshot, SECOND);
	char *text;

	thread_set(&threads[1], "rm (7)", 7, 20, 4000000);
	threads[1].number = 8;
	snapshot.nr[GROUP_BY_THREAD] = 2;
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_null(strstr(text, "cat (7)"));
	ck_assert_ptr_nonnull(strstr(text, "       4.0          20.0        200.00  rm (7)\n"));
	free(text);
	live_free(live);
}

/*
 * The row for the second file contains nothing from the first file, which keeps its row in the
 * groups.
 */
TEST(test_a_reused_inode_is_another_row)
{
	struct live_snapshot snapshot = sample();
	struct live *live = live_of(BY_FILE, &snapshot, SECOND);
	char *text;

	group_set(&files[2], "/data/new", 10, 20, 4000000);
	files[2].number = 12;
	snapshot.nr[GROUP_BY_FILE] = 3;
	ck_assert_int_eq(live_take(live, &snapshot, START + 2 * SECOND), 0);
	text = print(live, false, 0, 0);
	ck_assert_ptr_null(strstr(text, "/data/a"));
	ck_assert_ptr_nonnull(strstr(text, "       4.0          20.0        200.00  /data/new\n"));
	free(text);
	live_free(live);
}
