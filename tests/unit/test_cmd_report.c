// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive report from end to end: an input recording, output, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "perfetto_events.h"
#include "runner.h"
#include "sample_run.h"
#include "text_file.h"
#include "user/cmd/cmd.h"
#include "user/cmd/report_options.h"
#include "user/print/json/json_environment.h"
#include "user/print/print_report.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"
#include "user/util/signals.h"
#include "user/util/text.h"

#define FAULTS	  300 /* faults in each of two files, a third from disk, then as many in memory */
#define DISK	  200
#define MAPPED	  0x7f0000000000UL
#define ALL_HOOKS ((1U << HOOK_PERF) - 1)

enum damage { DAMAGE_NONE, DAMAGE_CUT, DAMAGE_TORN, DAMAGE_TAIL };

static char folder[32] = "/tmp/pfstat-report-XXXXXX";
static struct recording_writer *writer;

/* Names as another user may choose them: they control a terminal. */
#define HOSTILE "\033[31m\177\302\233\u202e"
static bool hostile, long_names;

/* A name that is wider than its column of a table. */
#define LONG_PART "a_long_folder_with_no_blank/"
#define LONG_NAME "/srv/" LONG_PART LONG_PART ".so"

static void add(enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	ck_assert_int_eq(recording_add(writer, &item), 0);
}

static void add_map(unsigned int file)
{
	static const char *const paths[] = { "/lib/first.so", "/lib/second.so" };
	const char *path = hostile ? "/lib/" HOSTILE ".so" : long_names ? LONG_NAME : paths[file];
	const size_t bytes = strlen(path) + 1;
	struct item_map *map = calloc(1, sizeof(*map) + bytes);

	ck_assert_ptr_nonnull(map);
	*map = (struct item_map){
		.address = MAPPED + file * (1UL << 30),
		.bytes = 1UL << 30,
		.inode = 100 + file,
		.dev = 8 << 20,
		.pid = 50,
		.tid = 50,
		.path_bytes = bytes,
	};
	memcpy(map->path, path, bytes);
	add(ITEM_MAP, 0, map);
	free(map);
}

/* 100 µs: 10 on the CPU, 2 in the queue, 78 at the device, 6 runnable, 4 on the CPU. */
static void add_sleep(const struct pfstat_record *record)
{
	const uint64_t start_ns = record->start_ns;
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 50,
			   .tid = 51,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = start_ns + 90000 },
		.insert_ns = start_ns + 10000,
		.issue_ns = start_ns + 12000,
		.bytes = 4096,
		.file_bytes = 4096,
		.inode = record->inode,
		.pgoff = record->pgoff,
		.fs_dev = record->dev,
	};
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .pid = 50,
			   .tid = 51,
			   .flags = PFSTAT_OFF_CPU_IOWAIT | PFSTAT_OFF_CPU_WOKEN,
			   .ns = start_ns + 96000 },
		.off_ns = start_ns + 10000,
		.woken_ns = start_ns + 90000,
	};

	add(ITEM_EVENT, block.event.ns, &block);
	add(ITEM_EVENT, stay.event.ns, &stay);
}

static void add_fault(unsigned int number, uint64_t now_ns)
{
	const unsigned int file = number % 2;
	struct pfstat_record record = {
		.pid = 50,
		.tid = 51,
		.start_ns = now_ns,
		.duration_ns = 1000,
		.address = MAPPED + file * (1UL << 30) + number * 4096,
		.pgoff = number,
		.inode = 100 + file,
		.dev = 8 << 20,
		.class = PFSTAT_CLASS_LONG,
		.result = PFSTAT_RESULT_LOCKED,
		.ip = MAPPED + 64,
	};

	if (number % 3 == 0) {
		add_sleep(&record);
		record.duration_ns = 100000;
		record.class = PFSTAT_CLASS_DISK;
		record.facts = PFSTAT_FACT_SLEPT;
		record.result |= PFSTAT_RESULT_MAJOR;
	}
	add(ITEM_RECORD, now_ns + record.duration_ns, &record);
}

static void add_hostile_thread(void)
{
	const struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .pid = 50,
			   .tid = 51,
			   .flags = PFSTAT_TASK_RENAME,
			   .ns = 1 },
		.comm = "t" HOSTILE,
	};

	add(ITEM_EVENT, task.event.ns, &task);
}

static void add_items(void)
{
	struct pfstat_fault anon = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(anon),
			   .pid = 50,
			   .tid = 51,
			   .flags = PFSTAT_FAULT_ANON },
	};
	uint64_t now_ns = 1000000;
	unsigned int i;

	add_map(0);
	add_map(1);
	if (hostile)
		add_hostile_thread();
	for (i = 0; i < 2 * FAULTS; i++, now_ns += 200000)
		add_fault(i, now_ns);
	for (i = 0; i < FAULTS; i++, now_ns += 2000) {
		anon.start_ns = now_ns;
		anon.event.ns = now_ns + 500;
		anon.address = 0x1000000 + i * 4096;
		add(ITEM_EVENT, anon.event.ns, &anon);
	}
}

static json_t *make_head(uint32_t hooks)
{
	struct report report;

	report_init(&report);
	strcpy(report.environment.kind, "record");
	strcpy(report.environment.command, hostile ? "wc " HOSTILE : "wc -l");
	report.bpf.known = true;
	report.bpf.hooks = hooks;
	return json_head(&report);
}

static json_t *make_tail(void)
{
	struct run_counters counters;
	json_t *tail;

	run_counters_init(&counters);
	counters.start_ns = 1000000;
	counters.end_ns = 3000000;
	counters.calls = 2 * FAULTS;
	counters.lost = 0;
	counters.call_cost_ps = 158000;
	counters.inside_ps = 13000;
	counters.names_left_out = 2;
	counters.maps_lost = 3;
	counters.have_bpf = true;
	counters.hooks = ALL_HOOKS;
	memset(counters.counts, 0, sizeof(counters.counts));
	memset(counters.faults, 0, sizeof(counters.faults));
	counters.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED, 0, PFSTAT_OUTCOME_MAJOR)].count =
		DISK;
	counters.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED, 0, PFSTAT_OUTCOME_MINOR)].count =
		2 * FAULTS - DISK;
	counters.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_ANON, 0, PFSTAT_OUTCOME_MINOR)].count =
		FAULTS;
	counters.usage.majflt = DISK;
	counters.usage.minflt = 3 * FAULTS - DISK;
	tail = counters_json(&counters);
	run_counters_exit(&counters);
	return tail;
}

static void make_recording(uint32_t hooks, enum damage damage)
{
	FILE *out = fopen("run.pfs", "w");
	json_t *head = make_head(hooks), *tail = make_tail();
	json_t *symbols = json_pack("[{ss si ss} {ss si ss si}]", "path", "/lib/first.so", "offset",
				    64, "symbol", "main+0x4", "path", "/lib/first.so", "offset", 64,
				    "source", "/src/main.c", "line", 12);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	add_items();
	if (damage == DAMAGE_TAIL)
		json_object_set_new(tail, "calls", json_string("many"));
	ck_assert_int_eq(recording_add_symbols(writer, symbols), 0);
	if (damage == DAMAGE_CUT)
		recording_abandon(writer);
	else
		ck_assert_int_eq(recording_end(writer, tail), 0);
	ck_assert_int_eq(fclose(out), 0);
	if (damage == DAMAGE_TORN)
		ck_assert_int_eq(truncate("run.pfs", 2000), 0);
	json_decref(symbols);
	json_decref(tail);
	json_decref(head);
}

/* Returns the exit status. The output is in "out" and "err". */
static int run(char **arguments)
{
	int argc = 0, status;
	pid_t child;

	while (arguments[argc])
		argc++;
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr))
			_exit(99);
		exit(report_command.run(argc, arguments));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(...) run((char *[]){ "pfdrive", __VA_ARGS__, NULL })

/* the read end is closed */
static void close_reader(FILE *stream)
{
	int ends[2];

	if (pipe(ends) || dup2(ends[1], fileno(stream)) < 0)
		_exit(99);
	close(ends[0]);
	close(ends[1]);
}

/* Like run(), but the reader of standard output has closed the pipe. */
static int run_unread(char **arguments)
{
	int argc = 0, status;
	pid_t child;

	while (arguments[argc])
		argc++;
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		signal(SIGPIPE, SIG_DFL);
		close_reader(stdout);
		if (!freopen("err", "w", stderr))
			_exit(99);
		exit(report_command.run(argc, arguments));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN_UNREAD(...) run_unread((char *[]){ "pfdrive", __VA_ARGS__, NULL })

static json_t *json_of(const char *path)
{
	json_error_t error;
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(json, "%s: %s", path, error.text);
	return json;
}

static json_t *trace_of(const char *path)
{
	static char bytes[1 << 20];
	FILE *in = fopen(path, "r");
	size_t nr;

	ck_assert_msg(in, "no %s", path);
	nr = fread(bytes, 1, sizeof(bytes), in);
	ck_assert(feof(in));
	fclose(in);
	return perfetto_events(bytes, nr);
}

/* The value at a path of keys, for example "parts.all.count", or -1 if it is null. */
static json_int_t at(json_t *json, const char *path)
{
	char copy[128], *key, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((key = strsep(&rest, ".")))
		json = json_object_get(json, key);
	ck_assert_msg(json, "no %s", path);
	return json_is_null(json) ? -1 : json_integer_value(json);
}

TEST(test_recording_is_explained_again)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-f", "json"), 0);
	ck_assert_str_eq(text_file_read("err"), "");
	json = json_of("out");
	ck_assert_int_eq(at(json, "damage"), -1);
	ck_assert_int_eq(at(json, "calls"), 2 * FAULTS);
	ck_assert_int_eq(at(json, "names_left_out"), 2);
	ck_assert_int_eq(at(json, "maps_lost"), 3);
	ck_assert_int_eq(at(json, "elapsed_ns"), 2000000);
	ck_assert_int_eq(at(json, "parts.classes.disk.count"), DISK);
	ck_assert_int_eq(at(json, "parts.classes.disk.total_ns"), DISK * 100000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.cpu_before.total_ns"), DISK * 10000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.queue.total_ns"), DISK * 2000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.device.total_ns"), DISK * 78000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.runqueue.total_ns"), DISK * 6000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.cpu_after.total_ns"), DISK * 4000);
	ck_assert_int_eq(at(json, "parts.classes.anon.total_ns"), FAULTS * 500);
	ck_assert_int_eq(at(json, "parts.all.parts.residue.total_ns"), 0);
	ck_assert_int_eq(at(json, "requests.reads"), DISK);
	ck_assert_int_eq(at(json, "ledger.unexplained"), 0);
	ck_assert_int_eq(at(json, "rusage.majflt"), DISK);
	ck_assert_int_eq(at(json, "rusage.nvcsw"), -1);
	json_decref(json);
}

TEST(test_groups_have_the_recorded_names)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--by", "file"), 0);
	text_file_check("out", "\nFaults by file, costliest first\n");
	text_file_check("out", "\n   300    100      10.2");
	text_file_check("out", "  /lib/first.so\n");
	text_file_check("out", "  (anonymous memory)\n");
	ck_assert_int_eq(RUN("run.pfs", "--by", "code"), 0);
	text_file_check("out", "  main+0x4 (/lib/first.so)\n");
	ck_assert_int_eq(RUN("run.pfs", "--by", "class"), 0);
	ck_assert_ptr_null(strstr(text_file_read("out"), "costliest first"));
}

/* 600 faults, in two files in turn, every third from disk. */
TEST(test_report_can_be_limited_to_one_file)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--file", "/lib/second.so", "--by", "file", "--json",
			     "run.json"),
			 0);
	ck_assert_str_eq(text_file_read("err"), "");
	text_file_check("out", "\nOnly file     /lib/second.so\n");
	ck_assert_ptr_null(strstr(text_file_read("out"), "  /lib/first.so\n"));
	json = json_of("run.json");
	ck_assert_int_eq(at(json, "faults"), FAULTS);
	ck_assert_int_eq(at(json, "names_left_out"), 2);
	ck_assert_int_eq(at(json, "maps_lost"), 3);
	ck_assert_int_eq(at(json, "parts.all.count"), FAULTS);
	ck_assert_int_eq(at(json, "parts.classes.anon.count"), 0);
	ck_assert_int_eq(at(json, "parts.classes.disk.count"), DISK / 2);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.device.total_ns"), DISK / 2 * 78000);
	ck_assert_int_eq(at(json, "requests.reads"), DISK / 2);
	ck_assert_int_eq(at(json, "groups.left_out.rows"), 0);
	/* The counters are totals over all files. Nothing is known about a single file. */
	ck_assert_int_eq(at(json, "calls"), -1);
	ck_assert_int_eq(at(json, "rusage.majflt"), -1);
	ck_assert_int_eq(at(json, "ledger.unexplained"), 0);
	ck_assert_int_eq(at(json, "lost"), 0);
	ck_assert_int_eq(at(json, "elapsed_ns"), 2000000);
	json_decref(json);
}

static double mean_of_disk(const char *name)
{
	json_t *json = json_of(name);
	const json_t *disk = json_object_get(json_object_get(json, "classes"), "disk");
	double mean = json_real_value(json_object_get(disk, "mean_ns"));

	json_decref(json);
	return mean;
}

TEST(test_module_cost_is_also_subtracted_for_one_file)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--file", "/lib/second.so", "--json", "run.json"), 0);
	ck_assert_int_eq(RUN("run.pfs", "--file", "/lib/second.so", "--subtract", "--json",
			     "less.json"),
			 0);
	ck_assert_double_gt(mean_of_disk("less.json"), 0);
	ck_assert_double_eq_tol(mean_of_disk("less.json"), mean_of_disk("run.json") - 13, 0.001);
	unlink("less.json");
}

TEST(test_one_file_of_a_cut_recording_is_reported)
{
	json_t *json;

	make_recording(0, DAMAGE_CUT);
	ck_assert_int_eq(RUN("run.pfs", "--file", "/lib/first.so", "--json", "run.json"), 0);
	ck_assert_str_eq(text_file_read("err"), "pfdrive: run.pfs was cut: it has no end\n");
	json = json_of("run.json");
	ck_assert_int_eq(at(json, "parts.all.count"), FAULTS);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.device.total_ns"), DISK / 2 * 78000);
	json_decref(json);
}

TEST(test_file_missing_in_the_recording_is_refused)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--file", "/lib/third.so", "-o", "report.txt"), 1);
	text_file_check("err", "pfdrive: no fault on /lib/third.so was recorded; ");
	ck_assert_int_eq(access("report.txt", F_OK), -1);
	ck_assert_int_eq(RUN("run.pfs", "--file", "(anonymous memory)"), 1);
	ck_assert_int_eq(RUN("-", "--file", "/lib/first.so"), 2);
	text_file_check("err", "pfdrive: --file: ");
}

TEST(test_top_reports_the_rows_that_it_omits)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--by", "file", "--top", "1", "--json", "run.json"), 0);
	text_file_check("out", "\nNot shown: 2 more rows, with 600 faults and ");
	json = json_of("run.json");
	ck_assert_int_eq(at(json, "groups.left_out.rows"), 2);
	json_decref(json);
	ck_assert_int_eq(RUN("run.pfs", "--by", "file", "--top", "0"), 0);
	ck_assert_ptr_null(strstr(text_file_read("out"), "Not shown"));
}

TEST(test_cut_recording_is_printed_with_a_warning)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_CUT);
	ck_assert_int_eq(RUN("run.pfs", "--full", "--json", "run.json"), 0);
	ck_assert_str_eq(text_file_read("err"), "pfdrive: run.pfs was cut: it has no end\n");
	ck_assert(!strncmp(text_file_read("out"), "THE RECORDING IS INCOMPLETE; ", 28));
	text_file_check("out", "\nWatched       for n/a\n");
	text_file_check("out", "\nSystem calls: n/a\n");
	json = json_of("run.json");
	ck_assert_str_eq(json_string_value(json_object_get(json, "damage")),
			 "run.pfs was cut: it has no end");
	ck_assert_int_eq(at(json, "calls"), -1);
	ck_assert_int_eq(at(json, "events_lost"), -1);
	ck_assert_int_eq(at(json, "rusage.minflt"), -1);
	ck_assert_int_eq(at(json, "ledger.unexplained"), 0);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.device.total_ns"), DISK * 78000);
	json_decref(json);
}

TEST(test_torn_recording_is_printed_with_a_warning)
{
	make_recording(ALL_HOOKS, DAMAGE_TORN);
	ck_assert_int_eq(RUN("run.pfs"), 0);
	text_file_check("err", "pfdrive: run.pfs ");
	ck_assert(!strncmp(text_file_read("out"), "THE RECORDING IS INCOMPLETE; ", 28));
}

TEST(test_malformed_counts_are_reported_as_unknown)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_TAIL);
	ck_assert_int_eq(RUN("run.pfs", "--format", "json"), 0);
	text_file_check("err", "pfdrive: the final counts in run.pfs are not valid\n");
	json = json_of("out");
	ck_assert_int_eq(at(json, "parts.classes.disk.count"), DISK);
	ck_assert_int_eq(at(json, "calls"), -1);
	json_decref(json);
}

/* The head of a recording is written before the hooks are attached. */
TEST(test_events_of_a_cut_recording_prove_their_hooks)
{
	json_t *json;

	make_recording(0, DAMAGE_CUT);
	ck_assert_int_eq(RUN("run.pfs", "--format", "json"), 0);
	json = json_of("out");
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.device.total_ns"), DISK * 78000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.queue.total_ns"), DISK * 2000);
	ck_assert_int_eq(at(json, "parts.classes.disk.parts.runqueue.total_ns"), DISK * 6000);
	ck_assert_int_eq(at(json, "parts.classes.anon.count"), FAULTS);
	ck_assert_int_eq(at(json, "readahead.read"), DISK);
	/* No event proves the ability to observe swapping or page removal. */
	ck_assert_int_eq(at(json, "parts.classes.swap.count"), -1);
	ck_assert_int_eq(at(json, "readahead.evicted_unused"), -1);
	ck_assert_int_eq(at(json, "readahead.idle"), -1);
	json_decref(json);
}

TEST(test_output_must_differ_from_the_recording)
{
	struct stat before, after;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-o", "report.txt"), 0);
	text_file_check("report.txt", "Parts of the faults' time");
	ck_assert_str_eq(text_file_read("out"), "");
	ck_assert_int_eq(stat("run.pfs", &before), 0);
	ck_assert_int_eq(RUN("run.pfs", "-o", "run.pfs"), 2);
	text_file_check("err",
			"--output and the recording are the same file, 'run.pfs'; name another");
	ck_assert_int_eq(RUN("run.pfs", "--json", "./run.pfs"), 2);
	ck_assert_int_eq(link("run.pfs", "hard.pfs"), 0);
	ck_assert_int_eq(RUN("run.pfs", "--html", "hard.pfs"), 2);
	unlink("hard.pfs");
	ck_assert_int_eq(symlink("run.pfs", "link.pfs"), 0);
	ck_assert_int_eq(RUN("link.pfs", "-o", "run.pfs"), 2);
	unlink("link.pfs");
	ck_assert_int_eq(stat("run.pfs", &after), 0);
	ck_assert_int_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_size, after.st_size);
}

/* Also if the files do not exist yet and their folder has two names. */
TEST(test_two_outputs_must_be_different_files)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(symlink(".", "here"), 0);
	ck_assert_int_eq(RUN("run.pfs", "--json", "new", "-o", "here/new"), 2);
	text_file_check("err",
			"--output and --json are the same file, 'here/new'; name another file");
	ck_assert_int_eq(RUN("run.pfs", "--json", "new", "--html", "./new"), 2);
	ck_assert_int_eq(access("new", F_OK), -1);
	/* run() redirects standard output to this file. */
	ck_assert_int_eq(RUN("run.pfs", "--json", "here/out"), 2);
	text_file_check("err", "--json and standard output are the same file, 'here/out'");
	ck_assert_int_eq(RUN("run.pfs", "-o", "/dev/null", "--json", "/dev/null"), 0);
	unlink("here");
}

/* /dev/stdout is a pipe then, which realpath(3) cannot resolve. */
TEST(test_an_output_may_be_a_pipe)
{
	char path[32], text[256];
	ssize_t length;
	int ends[2];

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	ck_assert_int_eq(RUN("run.pfs", "--format", "csv", "-o", path), 0);
	length = read(ends[0], text, sizeof(text) - 1);
	ck_assert_int_gt(length, 0);
	text[length] = '\0';
	ck_assert_msg(strstr(text, ","), "no CSV: %s", text);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_figures_do_not_overwrite_the_recording)
{
	struct stat before, after;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(link("run.pfs", "cost.csv"), 0);
	ck_assert_int_eq(stat("run.pfs", &before), 0);
	ck_assert_int_eq(RUN("run.pfs", "--plot", "."), 1);
	text_file_check("err",
			"pfdrive: cannot write ./cost.csv: it is the recording; name another");
	ck_assert_int_eq(stat("cost.csv", &after), 0);
	ck_assert_int_eq(before.st_ino, after.st_ino);
	unlink("cost.csv");
}

static unsigned int lines_of(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

TEST(test_faults_have_a_row_each)
{
	static const char head[] = "start_ns,duration_ns,pid,tid,thread,class,major,solved,kernel,";
	json_int_t total_ns = 0, major = 0, read_bytes = 0;
	const char *line;
	json_t *json;
	char *text;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--format", "faults-csv", "--json", "run.json"), 0);
	ck_assert_uint_eq(lines_of(text_file_read("out")), 1 + 3 * FAULTS);
	ck_assert(!strncmp(text_file_read("out"), head, strlen(head)));
	text_file_check("out", ",/lib/first.so,");
	text_file_check("out", ",main,/lib/first.so,/src/main.c,12\n");
	ck_assert_int_eq(RUN("run.pfs", "--format", "faults-jsonl"), 0);
	text = strdup(text_file_read("out"));
	ck_assert_uint_eq(lines_of(text), 3 * FAULTS);
	for (line = text; *line; line += strcspn(line, "\n") + 1) {
		json = json_loadb(line, strcspn(line, "\n"), JSON_REJECT_DUPLICATES, NULL);
		ck_assert_ptr_nonnull(json);
		total_ns += at(json, "duration_ns");
		major += json_is_true(json_object_get(json, "major"));
		read_bytes += at(json, "read_bytes");
		ck_assert_int_eq(at(json, "duration_ns"),
				 at(json, "cpu_before_ns") + at(json, "queue_ns") +
					 at(json, "device_ns") + at(json, "runqueue_ns") +
					 at(json, "cpu_after_ns"));
		json_decref(json);
	}
	free(text);
	json = json_of("run.json");
	ck_assert_int_eq(total_ns, at(json, "parts.all.total_ns"));
	ck_assert_int_eq(major, at(json, "parts.all.major"));
	ck_assert_int_eq(read_bytes, at(json, "requests.bytes_read"));
	json_decref(json);
}

/* The names that --columns prints for this table, as the head of its CSV. */
static char *head_of(const char *columns, const char *table)
{
	const size_t length = strlen(table);
	char *head = NULL;
	const char *line;
	size_t size;
	FILE *out = open_memstream(&head, &size);

	for (line = columns; *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, table, length) && line[length] == ',')
			fprintf(out, "%s%.*s", ftell(out) ? "," : "",
				(int)strcspn(line + length + 1, ","), line + length + 1);
	fputc('\n', out);
	fclose(out);
	return head;
}

TEST(test_columns_are_the_heads_of_the_rows_with_their_types)
{
	static const char *const names[] = { "faults", "requests", "mappings", NULL };
	char format[32], *columns, *head;
	const char *const *name;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("--columns"), 0);
	columns = strdup(text_file_read("out"));
	for (name = names; *name; name++) {
		snprintf(format, sizeof(format), "%s-csv", *name);
		ck_assert_int_eq(RUN("run.pfs", "--format", format), 0);
		head = head_of(columns, *name);
		ck_assert(!strncmp(text_file_read("out"), head, strlen(head)));
		free(head);
	}
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,start_ns,int64,0,"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,tid,uint32,0,thread\n"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,write,bool,1,a write\n"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,code,uint64,0,\"address of"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,device_ns,int64,1,"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,mechanism,string,1,"));
	ck_assert_ptr_nonnull(strstr(columns, "\nfaults,line,uint32,1,"));
	ck_assert_ptr_nonnull(strstr(columns, "\nmappings,page,int64,1,"));
	free(columns);
}

static unsigned int rows_from_to(char *from, char *to)
{
	ck_assert_int_eq(RUN("run.pfs", "-f", "faults-csv", "--from", from, "--to", to), 0);
	return lines_of(text_file_read("out")) - 1;
}

/* A fault begins every 200 µs. The first and every third take 100 µs, the others 1 µs. */
TEST(test_range_has_the_faults_that_overlap_it)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_uint_eq(rows_from_to("200us", "1ms"), 4);
	ck_assert_uint_eq(rows_from_to("50us", "0.06ms"), 1);
	ck_assert_uint_eq(rows_from_to("0s", "1s"), 3 * FAULTS);
	/* The end of a cut recording, which has the start time, is missing. */
	make_recording(ALL_HOOKS, DAMAGE_CUT);
	ck_assert_uint_eq(rows_from_to("0s", "1s"), 3 * FAULTS);
}

TEST(test_range_without_faults_is_refused)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "150us", "--to", "160us", "-o",
			     "trace.json"),
			 1);
	text_file_check("err", "no fault in run.pfs is within --from and --to; the ");
	ck_assert_int_eq(access("trace.json", F_OK), -1);
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "150us", "--to", "160us"), 1);
	json = trace_of("out"); /* it is complete */
	ck_assert_ptr_null(json_object_get(json_object_get(json, "end"), "damage"));
	json_decref(json);
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "1s"), 1);
	text_file_check("err", "--from is after the end of run.pfs, which lasts 0.12");
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "2us", "--to", "2us"), 2);
	text_file_check("err", "--to is not after --from; the range is empty");
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "2"), 2);
	text_file_check("err", "--from: '2' is not a time; give a number with a unit");
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "-1s"), 2);
	ck_assert_int_eq(RUN("run.pfs", "--from", "1ms"), 2);
	text_file_check("err", "--from and --to require a format with every fault");
	ck_assert_int_eq(RUN("-", "-f", "perfetto", "--from", "1ms"), 2);
	text_file_check("err", "cannot read standard input twice");
}

TEST(test_range_limits_profiles_and_requests_of_traces)
{
	json_t *json, *event;
	unsigned int requests = 0;
	const char *category;
	size_t i;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-f", "firefox", "--from", "200us", "--to", "1ms"), 0);
	text_file_check("out", "\"weight\":[0.001000,0.001000,0.100000,0.001000]");
	ck_assert_int_eq(RUN("run.pfs", "-f", "perfetto", "--from", "200us", "--to", "1ms"), 0);
	json = trace_of("out");
	json_array_foreach(json_object_get(json, "events"), i, event) {
		category = json_string_value(json_object_get(event, "cat"));
		requests += category && !strcmp(category, "block") &&
			    !strcmp(json_string_value(json_object_get(event, "name")), "read");
	}
	ck_assert_uint_eq(requests, 1);
	json_decref(json);
}

TEST(test_folded_has_the_time_of_each_path)
{
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--format", "folded", "--by", "code"), 0);
	text_file_check("out", "main+0x4 (/lib/first.so) ");
	ck_assert_int_eq(RUN("run.pfs", "--format", "folded"), 1);
	text_file_check("err", "has no call paths; record with --stacks, or add --by code");
}

static unsigned int count_of_category(json_t *events, const char *category, const char *name)
{
	unsigned int count = 0;
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
		count += json_is_string(json_object_get(event, "cat")) &&
			 !strcmp(json_string_value(json_object_get(event, "cat")), category) &&
			 !strcmp(json_string_value(json_object_get(event, "name")), name);
	return count;
}

TEST(test_trace_has_the_faults_and_the_longest_ones_again)
{
	json_t *json, *events;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--format", "perfetto", "-o", "trace.json"), 0);
	json = trace_of("trace.json");
	events = json_object_get(json, "events");
	ck_assert_uint_eq(count_of_category(events, "fault", "disk"), DISK);
	ck_assert_uint_eq(count_of_category(events, "longest", "disk"), SLOWEST_FAULTS);
	json_decref(json);
	ck_assert_int_eq(RUN("run.pfs", "--format", "perfetto", "-o", "trace.json", "--slowest",
			     "3"),
			 0);
	json = trace_of("trace.json");
	ck_assert_uint_eq(count_of_category(json_object_get(json, "events"), "longest", "disk"), 3);
	json_decref(json);
}

TEST(test_each_format_is_compressed_if_the_name_ends_with_gz)
{
	static char *const formats[] = {
		"table",	"json",	   "csv",	   "faults-csv",
		"faults-jsonl", "firefox", "requests-csv", "mappings-csv"
	};
	static char text[1 << 20];
	gzFile in;
	size_t i;
	int size;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		ck_assert_int_eq(RUN("run.pfs", "-f", formats[i], "-o", "trace.json"), 0);
		ck_assert_int_eq(RUN("run.pfs", "-f", formats[i], "-o", "trace.json.gz"), 0);
		in = gzopen("trace.json.gz", "r");
		ck_assert_ptr_nonnull(in);
		ck_assert_int_eq(gzdirect(in), 0);
		size = gzread(in, text, sizeof(text) - 1);
		ck_assert_int_gt(size, 0);
		text[size] = '\0';
		ck_assert_int_eq(gzclose(in), Z_OK);
		ck_assert_str_eq(text, text_file_read("trace.json"));
	}
}

static unsigned short terminal_columns = 100;

/* What a terminal gets, valid until the next call. */
static const char *print_on_terminal(char **arguments)
{
	static char text[1 << 20];
	struct winsize size = { .ws_row = 24, .ws_col = terminal_columns };
	int argc = 0, master, slave, status;
	size_t length = 0;
	ssize_t got;
	pid_t child;

	while (arguments[argc])
		argc++;
	fflush(NULL);
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(master);
		if (dup2(slave, STDOUT_FILENO) < 0 || !freopen("err", "w", stderr))
			_exit(99);
		close(slave);
		exit(report_command.run(argc, arguments));
	}
	close(slave);
	/* When the last writer closes the terminal, read() fails with EIO. */
	while ((got = read(master, text + length, sizeof(text) - 1 - length)) > 0)
		length += got;
	close(master);
	text[length] = '\0';
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return text;
}

#define PRINT_ON_TERMINAL(...) print_on_terminal((char *[]){ "pfdrive", __VA_ARGS__, NULL })

static void check_harmless(const char *text)
{
	const char *at;

	ck_assert_uint_gt(strlen(text), 0);
	for (at = text; *at; at++)
		ck_assert_msg(strchr("\r\n\t", *at) || (*at & 0xc0) == 0x80 ||
				      utf8_printable(at, strlen(at)),
			      "byte %#x in %s", (unsigned char)*at, text);
}

TEST(test_no_name_controls_the_terminal)
{
	enum report_format format;

	hostile = true;
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	for (format = 0; format < NR_REPORT_FORMATS; format++)
		if (!report_format_is_binary(format))
			check_harmless(PRINT_ON_TERMINAL("run.pfs", "-f",
							 (char *)report_format_words[format],
							 "--by",
							 format == REPORT_FOLDED ? "code" :
										   "thread"));
	check_harmless(PRINT_ON_TERMINAL("run.pfs", "--full"));
	check_harmless(PRINT_ON_TERMINAL("run.pfs", "--by", "file"));
	check_harmless(PRINT_ON_TERMINAL("run.pfs", "--slowest", "5"));
	check_harmless(PRINT_ON_TERMINAL("run.pfs", "--plot", "-"));
	/* A file has the names as they are. */
	ck_assert_int_eq(RUN("run.pfs", "-f", "mappings-csv"), 0);
	text_file_check("out", HOSTILE);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0, width = 0;

	for (; *text; text++) {
		width += (*text & 0xc0) != 0x80 && *text != '\r' && *text != '\n';
		widest = width > widest ? width : widest;
		width = *text == '\n' ? 0 : width;
	}
	return widest;
}

TEST(test_report_is_as_wide_as_the_terminal)
{
	static const unsigned short columns[] = { 80, 100, 132 };
	const char *text;
	size_t i;

	unsetenv("COLUMNS");
	long_names = true;
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		terminal_columns = columns[i];
		text = PRINT_ON_TERMINAL("run.pfs");
		ck_assert_msg(widest_line(text) <= columns[i], "%s", text);
		text = PRINT_ON_TERMINAL("run.pfs", "--slowest", "3");
		ck_assert_msg(widest_line(text) <= columns[i], "%s", text);
	}
	/* Enough columns for the whole name in one line. */
	terminal_columns = 300;
	text = PRINT_ON_TERMINAL("run.pfs");
	ck_assert_msg(strstr(text, LONG_NAME), "%s", text);
	setenv("COLUMNS", "80", 1);
	ck_assert_uint_le(widest_line(PRINT_ON_TERMINAL("run.pfs")), 80);
	/* A file does not depend on it. */
	ck_assert_int_eq(RUN("run.pfs"), 0);
	text_file_check("out", LONG_NAME);
}

TEST(test_a_locale_without_utf8_gets_ascii)
{
	const char *at;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs"), 0);
	text_file_check("out", "Mean µs");
	setenv("LC_ALL", "C", 1);
	ck_assert_int_eq(RUN("run.pfs", "--full"), 0);
	text_file_check("out", "Mean us");
	for (at = text_file_read("out"); *at; at++)
		ck_assert_msg(!(*at & 0x80), "%s", at);
	/* Formats for programs have UTF-8 in every locale. */
	ck_assert_int_eq(RUN("run.pfs", "-f", "json", "-o", "trace.json"), 0);
	unsetenv("LC_ALL");
	ck_assert_int_eq(RUN("run.pfs", "-f", "json"), 0);
	ck_assert_uint_eq(system("cmp out trace.json"), 0);
}

TEST(test_a_profile_has_the_time_of_all_faults)
{
	json_t *json, *threads, *weights, *weight;
	json_int_t total_ns = 0;
	unsigned int faults = 0;
	size_t i, j;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "--format", "firefox", "-o", "trace.json", "--json",
			     "run.json"),
			 0);
	json = json_of("trace.json");
	threads = json_object_get(json, "threads");
	for (i = 0; i < json_array_size(threads); i++) {
		weights = json_object_get(json_object_get(json_array_get(threads, i), "samples"),
					  "weight");
		json_array_foreach(weights, j, weight)
			total_ns += llround(json_real_value(weight) * 1e6);
		faults += json_array_size(weights);
	}
	json_decref(json);
	ck_assert_ptr_nonnull(strstr(text_file_read("trace.json"), "\"main\""));
	json = json_of("run.json");
	ck_assert_uint_eq(faults, 3 * FAULTS);
	ck_assert_int_eq(total_ns, at(json, "parts.all.total_ns"));
	json_decref(json);
}

/* The reader exits early, as head(1) does: the requested files are complete, without a message. */
TEST(test_files_are_written_if_stdout_is_closed)
{
	static char *const formats[] = { "table", "csv", "json", "perfetto", "pprof", "firefox" };
	json_t *json;
	size_t i;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		ck_assert_int_eq(RUN_UNREAD("run.pfs", "-f", formats[i], "--json", "run.json"),
				 128 + SIGPIPE);
		ck_assert_str_eq(text_file_read("err"), "");
		json = json_of("run.json");
		ck_assert_int_eq(at(json, "calls"), 2 * FAULTS);
		json_decref(json);
		unlink("run.json");
		ck_assert_int_eq(RUN_UNREAD("run.pfs", "-f", formats[i]), 128 + SIGPIPE);
		ck_assert_str_eq(text_file_read("err"), "");
	}
	ck_assert_int_eq(RUN_UNREAD("run.pfs", "-o", "report.txt"), 0);
}

TEST(test_a_full_output_does_not_stop_the_others)
{
	json_t *json;

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-o", "/dev/full", "--json", "run.json"), 1);
	ck_assert_str_eq(text_file_read("err"),
			 "pfdrive: cannot write /dev/full: No space left on device\n");
	json = json_of("run.json");
	ck_assert_int_eq(at(json, "calls"), 2 * FAULTS);
	json_decref(json);
}

/* The output at the end of `pfdrive record'. */
static int print_unread(void)
{
	const struct report_options options = { .format = REPORT_TABLE, .json = "run.json" };
	struct sample_run sample;
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		signals_init();
		close_reader(stdout);
		sample_open(&sample, 150000);
		_exit(report_options_print(&options, &sample.report));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(test_record_writes_its_json_if_stdout_is_closed)
{
	json_t *json;

	ck_assert_int_eq(print_unread(), 128 + SIGPIPE);
	json = json_of("run.json");
	json_decref(json);
}

TEST(test_recording_comes_through_a_pipe)
{
	int in = dup(0);

	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_ptr_nonnull(freopen("run.pfs", "r", stdin));
	ck_assert_int_eq(RUN("-"), 0);
	text_file_check("out", "Parts of the faults' time");
	ck_assert_str_eq(text_file_read("err"), "");
	ck_assert_ptr_nonnull(freopen("run.pfs", "r", stdin));
	ck_assert_int_eq(RUN("-", "-f", "faults-csv"), 0);
	text_file_check("out", ",,/lib/first.so,,\n");
	ck_assert_str_eq(text_file_read("err"),
			 "pfdrive: standard input has the names of code at its end, so function, "
			 "source_file and line are empty; name a file instead\n");
	dup2(in, 0);
	close(in);
}

TEST(test_non_recording_is_refused_without_output)
{
	json_t *head = json_object();
	FILE *out;

	text_file_write("text", "hello\n");
	ck_assert_int_eq(RUN("text", "-o", "report.txt"), 1);
	text_file_check("err", "pfdrive: text is not a pfdrive recording\n");
	ck_assert_int_eq(RUN("nothing"), 1);
	text_file_check("err", "pfdrive: cannot open nothing: No such file or directory\n");
	out = fopen("run.pfs", "w");
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	ck_assert_int_eq(recording_end(writer, head), 0);
	fclose(out);
	json_decref(head);
	ck_assert_int_eq(RUN("run.pfs", "-o", "report.txt"), 1);
	text_file_check("err", "pfdrive: cannot explain run.pfs: the head is not complete\n");
	ck_assert_int_eq(access("report.txt", F_OK), -1);
	make_recording(ALL_HOOKS, DAMAGE_NONE);
	ck_assert_int_eq(RUN("run.pfs", "-o", "no/such/folder"), 1);
	text_file_check("err", "pfdrive: cannot write no/such/folder: No such file or directory\n");
}

TEST(test_wrong_options_are_refused)
{
	ck_assert_int_eq(RUN("--by", "colour", "run.pfs"), 2);
	ck_assert_int_eq(RUN("--top", "-1", "run.pfs"), 2);
	ck_assert_int_eq(RUN("--format", "xml", "run.pfs"), 2);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs"), 2);
	text_file_check("err", "pfdrive: unexpected argument 'b.pfs'; give one RECORDING\n");
	ck_assert_int_eq(run((char *[]){ "pfdrive", NULL }), 2);
	text_file_check("err", "pfdrive: no RECORDING was given; see --help\n");
}

static void make_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
	static const char *const names[] = {
		"run.pfs",	 "run.json", "report.txt", "trace.json",
		"trace.json.gz", "text",     "out",	   "err",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	ck_assert_int_eq(chdir("/"), 0);
	/* No other file was left, not even a temporary one. */
	ck_assert_int_eq(rmdir(folder), 0);
	strcpy(strchr(folder, '\0') - 6, "XXXXXX");
}

FIXTURE(make_folder, remove_folder);
