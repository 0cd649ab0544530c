// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive compare from end to end: input recordings, output, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "runner.h"
#include "text_file.h"
#include "apps/compare/compare.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"

#define TINY 0.000000001

/* A run: disk faults, each with a request and a sleep, and as many cached faults. */
struct plan {
	unsigned int faults;
	double device_us; /* mean */
	uint64_t seed;
	bool have_bpf;
	uint32_t hooks;	     /* with events for block requests and wake-ups */
	uint64_t reclaim_ns; /* at the start of each disk fault */
	unsigned int anon;   /* faults on anonymous memory, which only eBPF sees */
	uint64_t watched_ns; /* nonzero: how long a program that did not exit was watched */
	const char *kernel;  /* written to the head, or omitted if NULL */
	bool cut;	     /* the recording's last block is incomplete */
	uint64_t lost;
};

static char folder[32];

static void make_folder(void)
{
	strcpy(folder, "/tmp/pfstat-compare-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
	unlink("a.pfs");
	unlink("b.pfs");
	unlink("c.pfs");
	unlink("d.pfs");
	unlink("out");
	unlink("err");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void add(struct recording_writer *writer, enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	ck_assert_int_eq(recording_add(writer, &item), 0);
}

static void add_reclaim(struct recording_writer *writer, uint64_t start_ns, uint64_t ns)
{
	const struct pfstat_reclaim reclaim = {
		.event = { .type = PFSTAT_EVENT_RECLAIM,
			   .size = sizeof(reclaim),
			   .pid = 1,
			   .tid = 1,
			   .ns = start_ns + ns },
		.start_ns = start_ns,
	};

	if (ns)
		add(writer, ITEM_EVENT, reclaim.event.ns, &reclaim);
}

static void add_disk(struct recording_writer *writer, struct pfstat_record *record,
		     uint64_t device_ns)
{
	const uint64_t issue_ns = record->start_ns + 5000, done_ns = issue_ns + device_ns;
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = done_ns },
		.insert_ns = issue_ns,
		.issue_ns = issue_ns,
		.inode = record->inode,
		.fs_dev = record->dev,
		.dev = record->dev,
		.pgoff = record->pgoff,
		.bytes = 4096,
		.file_bytes = 4096,
	};
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT,
			   .ns = done_ns + 3000 },
		.off_ns = issue_ns,
		.woken_ns = done_ns,
	};

	add(writer, ITEM_EVENT, block.event.ns, &block);
	add(writer, ITEM_EVENT, stay.event.ns, &stay);
	record->duration_ns = device_ns + 12000;
	record->class = PFSTAT_CLASS_DISK;
	record->facts = PFSTAT_FACT_SLEPT;
	record->result |= PFSTAT_RESULT_MAJOR;
}

static void add_faults(struct recording_writer *writer, const struct plan *plan)
{
	uint64_t state = plan->seed, now_ns = 1000000;
	struct pfstat_record record;
	double uniform;
	unsigned int i;

	for (i = 0; i < 2 * plan->faults; i++) {
		uniform = ldexp((random_next(&state) >> 11) + 0.5, -53);
		record = (struct pfstat_record){
			.sequence = i + 1,
			.start_ns = now_ns,
			.duration_ns = 3000 + 100 * uniform,
			.address = 0x10000000 + 4096UL * i,
			.pgoff = i,
			.inode = 9,
			.dev = 1,
			.pid = 1,
			.tid = 1,
			.class = PFSTAT_CLASS_LONG,
			.result = PFSTAT_RESULT_LOCKED,
			.pfn = i,
		};
		if (i % 2)
			add_reclaim(writer, now_ns, plan->reclaim_ns);
		if (i % 2)
			add_disk(writer, &record,
				 plan->device_us * 1000 * (0.8 - 0.2 * log(uniform)));
		now_ns = record.start_ns + record.duration_ns;
		add(writer, ITEM_RECORD, now_ns, &record);
		now_ns += 1000;
	}
}

static void add_anon(struct recording_writer *writer, const struct plan *plan)
{
	uint64_t now_ns = 10000000000;
	struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_FAULT_ANON },
	};
	unsigned int i;

	for (i = 0; i < plan->anon; i++, now_ns += 10000) {
		fault.start_ns = now_ns;
		fault.address = 0x20000000 + 4096UL * i;
		fault.event.ns = now_ns + 1000;
		add(writer, ITEM_EVENT, fault.event.ns, &fault);
	}
}

static void record_run(const char *path, const struct plan *plan)
{
	struct recording_writer *writer;
	FILE *out = fopen(path, "w");
	json_t *head = plan->kernel ? json_pack("{s{ss}}", "environment", "kernel", plan->kernel) :
				      json_object();
	json_t *tail;
	struct run_counters counters;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	add_faults(writer, plan);
	add_anon(writer, plan);
	run_counters_init(&counters);
	counters.have_bpf = plan->have_bpf;
	counters.hooks = 1U << HOOK_BLOCK | 1U << HOOK_WAKEUP | plan->hooks;
	counters.calls = 2 * plan->faults + plan->lost;
	counters.lost = plan->lost;
	counters.counts[PFSTAT_COUNT_EVENTS_LOST] = 0;
	if (plan->watched_ns) {
		counters.edges = true;
		counters.start_ns = 500000;
		counters.end_ns = counters.start_ns + plan->watched_ns;
	}
	tail = counters_json(&counters);
	ck_assert_int_eq(recording_end(writer, tail), 0);
	if (plan->cut)
		ck_assert_int_eq(ftruncate(fileno(out), ftell(out) - 1), 0);
	ck_assert_int_eq(fclose(out), 0);
	run_counters_exit(&counters);
	json_decref(head);
	json_decref(tail);
}

static const struct plan usual = {
	.faults = 1000,
	.device_us = 100,
	.seed = 1,
	.have_bpf = true,
};

static struct plan with_seed(uint64_t seed)
{
	struct plan plan = usual;

	plan.seed = seed;
	return plan;
}

static pid_t start(char **arguments, bool unread)
{
	int argc = 0, ends[2];
	pid_t child;

	while (arguments[argc])
		argc++;
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr))
			_exit(99);
		if (unread && (pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0 || close(ends[0]) ||
			       close(ends[1])))
			_exit(99);
		signal(SIGPIPE, SIG_DFL);
		exit(compare_command.run(argc, arguments));
	}
	return child;
}

static int status_of(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Returns the exit status. Standard output goes to "out". */
static int run(char **arguments)
{
	return status_of(start(arguments, false));
}

#define RUN(...)	   run((char *[]){ "pfdrive", __VA_ARGS__, NULL })
#define START(unread, ...) start((char *[]){ "pfdrive", __VA_ARGS__, NULL }, unread)

static json_t *output(void)
{
	json_error_t error;
	json_t *root = json_load_file("out", JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(root, "%s", error.text);
	return root;
}

static json_t *row_of(const json_t *root, const char *class, const char *measure)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "rows"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "class")), class) &&
		    !strcmp(json_string_value(json_object_get(row, "measure")), measure))
			return row;
	ck_abort_msg("no %s %s", class, measure);
}

static const char *verdict_of(const json_t *root, const char *class, const char *measure)
{
	return json_string_value(json_object_get(row_of(root, class, measure), "verdict"));
}

static double number_of(const json_t *root, const char *class, const char *measure, const char *key)
{
	return json_number_value(json_object_get(row_of(root, class, measure), key));
}

TEST(test_same_recording_twice_has_no_change)
{
	json_t *root, *rows, *row;
	size_t i;

	record_run("a.pfs", &usual);
	ck_assert_int_eq(RUN("--format", "json", "--threshold", "0", "a.pfs", "a.pfs"), 0);
	root = output();
	ck_assert(json_is_false(json_object_get(root, "change")));
	/*
	 * Two classes and all: total, faults, whole, parts, then major faults, then bytes for all.
	 */
	rows = json_object_get(root, "rows");
	ck_assert_uint_eq(json_array_size(rows), 3 * 16 + 3);
	for (i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		ck_assert_double_eq(json_number_value(json_object_get(row, "difference_percent")),
				    0);
		if (i < 2)
			ck_assert_str_eq(json_string_value(json_object_get(row, "class")), "all");
	}
	ck_assert_double_eq(number_of(root, "all", "read", "a"), 1000 * 4096);
	ck_assert_double_eq(number_of(root, "disk", "faults", "a"), 1000);
	ck_assert_double_eq(number_of(root, "all", "faults", "a"), 2000);
	ck_assert_double_eq(number_of(root, "all", "major", "a"), 1000);
	json_decref(root);
}

TEST(test_two_runs_of_one_workload_have_no_change)
{
	const struct plan a = with_seed(2), b = with_seed(3);

	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs"), 0);
	ck_assert_int_eq(RUN("-t", "5", "--confidence", "99", "--format", "csv", "a.pfs", "b.pfs"),
			 0);
}

TEST(test_slower_disk_is_a_change_of_the_device_part)
{
	const struct plan a = with_seed(4);
	struct plan b = with_seed(5);
	json_t *root;

	b.device_us = 120;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 3);
	root = output();
	ck_assert_str_eq(verdict_of(root, "disk", "device"), "change");
	ck_assert_double_eq_tol(number_of(root, "disk", "device", "difference_percent"), 20, 2);
	ck_assert_double_eq_tol(number_of(root, "disk", "device", "a"), 100000, 2000);
	ck_assert_str_eq(verdict_of(root, "disk", "whole"), "change");
	ck_assert_str_eq(verdict_of(root, "disk", "runqueue"), "same");
	ck_assert_str_eq(verdict_of(root, "disk", "cpu_before"), "same");
	ck_assert_str_eq(verdict_of(root, "long", "whole"), "same");
	/* the hook was not attached */
	ck_assert_str_eq(verdict_of(root, "disk", "queue"), "n/a");
	json_decref(root);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--threshold=50"), 0);
}

TEST(test_parts_are_not_compared_without_ebpf)
{
	struct plan b = with_seed(6);
	json_t *root;

	b.have_bpf = false;
	record_run("a.pfs", &usual);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	root = output();
	ck_assert_str_eq(verdict_of(root, "disk", "device"), "n/a");
	ck_assert_str_eq(verdict_of(root, "disk", "cpu_before"), "n/a");
	ck_assert_str_eq(verdict_of(root, "disk", "whole"), "same");
	json_decref(root);
}

static void check_parts(const char *cpu, const char *reclaim, const char *runqueue)
{
	json_t *root = output();

	ck_assert_str_eq(verdict_of(root, "disk", "cpu_before"), cpu);
	ck_assert_str_eq(verdict_of(root, "disk", "device"), cpu);
	ck_assert_str_eq(verdict_of(root, "disk", "reclaim"), reclaim);
	ck_assert_str_eq(verdict_of(root, "disk", "runqueue"), runqueue);
	json_decref(root);
}

/* Recordings from earlier versions have reclaim in the other parts. */
TEST(test_reclaim_is_compared_only_with_reclaim)
{
	struct plan a = with_seed(5), b = with_seed(6);

	b.hooks |= 1U << HOOK_RECLAIM;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	check_parts("same", "n/a", "same"); /* nothing was reclaimed */
	b.reclaim_ns = 2000;
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	check_parts("n/a", "n/a", "same");
	a = b;
	a.seed = 5;
	record_run("a.pfs", &a);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	check_parts("same", "same", "same");
}

/* Nothing was observed, because nothing was attached: the value is not 0. */
TEST(test_classes_that_a_run_could_not_see_are_not_compared)
{
	struct plan a = with_seed(5), b = with_seed(6);
	json_t *root;

	a.have_bpf = false;
	b.hooks = 1U << HOOK_FAULT;
	b.anon = 500;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	root = output();
	ck_assert_str_eq(verdict_of(root, "anon", "faults"), "n/a");
	ck_assert_str_eq(verdict_of(root, "all", "faults"), "n/a");
	ck_assert(json_is_null(json_object_get(row_of(root, "anon", "faults"), "a")));
	ck_assert_str_eq(verdict_of(root, "disk", "faults"), "same");
	json_decref(root);

	/*
	 * With the hook in both runs, zero is zero. A separate class for swap-ins does not change
	 * the sum.
	 */
	a.have_bpf = true;
	a.hooks = 1U << HOOK_FAULT | 1U << HOOK_SWAP;
	record_run("a.pfs", &a);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 3);
	root = output();
	ck_assert_str_eq(verdict_of(root, "anon", "faults"), "change");
	ck_assert_str_eq(verdict_of(root, "all", "faults"), "change");
	json_decref(root);
}

static void check_is_incomplete(void)
{
	json_t *root;

	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 4);
	root = output();
	ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), "incomplete");
	ck_assert(json_is_null(json_object_get(root, "change")));
	ck_assert_str_eq(verdict_of(root, "all", "total"), "incomplete");
	ck_assert_str_eq(verdict_of(root, "disk", "faults"), "incomplete");
	ck_assert_str_eq(verdict_of(root, "disk", "device"), "incomplete");
	json_decref(root);
}

/* 800 of 2000 records are missing in A: it seems to have less time in faults. */
TEST(test_cut_and_lossy_recordings_are_not_judged)
{
	struct plan a = with_seed(7), b = with_seed(8);
	const json_t *side;
	json_t *root;

	a.faults = 600;
	a.lost = 800;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	check_is_incomplete();
	root = output();
	side = json_object_get(root, "a");
	ck_assert_int_eq(json_integer_value(json_object_get(side, "lost")), 800);
	ck_assert(json_is_null(json_object_get(side, "damage")));
	ck_assert_double_eq_tol(json_number_value(json_object_get(root, "lost_percent")), 40, TINY);
	json_decref(root);
	/* Also with several runs on a side, and without a threshold. */
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--", "b.pfs", "b.pfs"), 4);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs"), 4);
	b.cut = true;
	record_run("a.pfs", &b);
	check_is_incomplete();
	root = output();
	side = json_object_get(root, "a");
	ck_assert(json_is_null(json_object_get(side, "lost")));
	ck_assert(json_is_string(json_object_get(side, "damage")));
	ck_assert(json_is_null(json_object_get(root, "lost_percent")));
	json_decref(root);
}

TEST(test_few_losses_are_judged)
{
	struct plan a = with_seed(7), b = with_seed(8);
	json_t *root;

	a.lost = 5;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	root = output();
	ck_assert_str_eq(verdict_of(root, "disk", "device"), "same");
	json_decref(root);
	/* Any loss is above a threshold of 0. */
	ck_assert_int_eq(RUN("-t", "0", "a.pfs", "b.pfs"), 4);
}

TEST(test_one_run_on_each_side_is_judged_only_with_a_threshold)
{
	struct plan a = with_seed(7), b = with_seed(8);
	json_t *root;

	b.device_us = 200;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--format", "json"), 0);
	root = output();
	ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), "not judged");
	ck_assert_str_eq(verdict_of(root, "disk", "whole"), "not judged");
	ck_assert_double_gt(number_of(root, "disk", "whole", "difference_percent"), 80);
	json_decref(root);
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 3);
}

/* The device is twice as slow in both runs of B. */
TEST(test_doubled_time_is_found_with_two_runs_on_each_side)
{
	static const char *const paths[] = { "a.pfs", "b.pfs", "c.pfs", "d.pfs" };
	struct plan plan = usual;
	json_t *root;
	size_t i;

	for (i = 0; i < 4; i++) {
		plan.seed = 40 + i;
		plan.device_us = i < 2 ? 100 + i : 200 + i;
		record_run(paths[i], &plan);
	}
	ck_assert_int_eq(RUN("-f", "json", "a.pfs", "b.pfs", "--", "c.pfs", "d.pfs"), 3);
	root = output();
	ck_assert_str_eq(verdict_of(root, "all", "total"), "change");
	ck_assert_str_eq(verdict_of(root, "all", "faults"), "same");
	json_decref(root);
	ck_assert_int_eq(RUN("a.pfs", "c.pfs", "--", "b.pfs", "d.pfs"), 0);
}

TEST(test_few_faults_give_no_verdict)
{
	struct plan a = with_seed(9), b = with_seed(10);
	json_t *root;

	a.faults = 9;
	b.faults = 9;
	b.device_us = 1000;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	/* All classes together have 18 faults, too few for a verdict. */
	ck_assert_int_eq(RUN("-t", "5", "a.pfs", "b.pfs", "--format", "json"), 0);
	root = output();
	ck_assert_str_eq(verdict_of(root, "disk", "whole"), "too few");
	/* No difference of the mean of 9 short and 9 long faults is excluded. */
	ck_assert_str_eq(verdict_of(root, "all", "whole"), "too few");
	json_decref(root);
}

TEST(test_bad_command_lines_and_files_are_refused)
{
	FILE *file = fopen("b.pfs", "w");

	ck_assert_ptr_nonnull(file);
	fputs("no recording", file);
	fclose(file);
	record_run("a.pfs", &usual);
	ck_assert_int_eq(RUN("a.pfs"), 2);
	ck_assert_int_eq(RUN("a.pfs", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("a.pfs", "--"), 2);
	ck_assert_int_eq(RUN("--", "a.pfs", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("a.pfs", "-", "--", "-"), 2);
	ck_assert_int_eq(RUN("-", "-"), 2);
	ck_assert_int_eq(RUN("--threshold", "x", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("--threshold", "-1", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("--threshold", "nan", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("--confidence", "100", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("--format", "xml", "a.pfs", "a.pfs"), 2);
	ck_assert_int_eq(RUN("a.pfs", "none.pfs"), 1);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs"), 1);
}

/* The planned faults, some equally long in each run, some not. */
static void record_side(const char *const *paths, double device_us, uint64_t seed)
{
	struct plan plan = with_seed(seed);

	plan.faults = 200;
	for (; *paths; paths++, plan.seed++) {
		plan.device_us = device_us;
		record_run(*paths, &plan);
	}
}

static size_t nr_runs(const json_t *root, const char *side)
{
	return json_array_size(json_object_get(json_object_get(root, side), "runs"));
}

TEST(test_each_side_may_have_several_runs)
{
	static const char *const paths[] = { "a.pfs", "b.pfs", "c.pfs", NULL };
	json_t *root;

	record_side(paths, 100, 20);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "-f", "json", "--", "c.pfs", "b.pfs", "a.pfs"), 0);
	root = output();
	ck_assert_uint_eq(nr_runs(root, "a"), 2);
	ck_assert_uint_eq(nr_runs(root, "b"), 3);
	ck_assert(json_is_true(json_object_get(root, "between_runs")));
	/* The mean over the runs. */
	ck_assert_double_eq(number_of(root, "disk", "faults", "a"), 200);
	json_decref(root);
	/* One file on each side. A single -- ends the options and does not separate the sides. */
	ck_assert_int_eq(RUN("-f", "json", "--", "a.pfs", "b.pfs"), 0);
	root = output();
	ck_assert_ptr_nonnull(json_object_get(json_object_get(root, "a"), "file"));
	ck_assert(json_is_false(json_object_get(root, "between_runs")));
	json_decref(root);
	ck_assert_int_eq(RUN("-f", "json", "--", "a.pfs", "--", "b.pfs", "c.pfs"), 0);
	root = output();
	ck_assert_uint_eq(nr_runs(root, "b"), 2);
	json_decref(root);
}

/* A process that faults at a constant rate, watched once, and then for twice as long. */
TEST(test_duration_of_the_recording_makes_no_change)
{
	struct plan a = with_seed(30), b = with_seed(31);
	const json_t *difference;
	json_t *root;

	b.faults = 2000;
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "-f", "json", "a.pfs", "b.pfs"), 3);
	/* 1000 disk faults of 112 µs and 1000 of 3 µs. */
	a.watched_ns = 1000 * 117000UL;
	b.watched_ns = 2000 * 117000UL;
	a.kernel = "6.1";
	b.kernel = "6.12";
	record_run("a.pfs", &a);
	record_run("b.pfs", &b);
	ck_assert_int_eq(RUN("-t", "5", "-f", "json", "a.pfs", "b.pfs"), 0);
	root = output();
	ck_assert(json_is_true(json_object_get(root, "rates")));
	ck_assert_double_eq_tol(number_of(root, "disk", "faults", "a"), 1 / 117e-6, 0.01);
	ck_assert_str_eq(json_string_value(json_object_get(row_of(root, "all", "total"), "unit")),
			 "ns/s");
	difference = json_array_get(json_object_get(root, "differences"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(difference, "key")), "kernel");
	json_decref(root);
}

static void check_says_nothing(void)
{
	struct stat stat_buffer;

	ck_assert_int_eq(stat("err", &stat_buffer), 0);
	ck_assert_int_eq(stat_buffer.st_size, 0);
}

TEST(test_closed_stdout_is_not_reported)
{
	record_run("a.pfs", &usual);
	ck_assert_int_eq(status_of(START(true, "a.pfs", "a.pfs")), 128 + SIGPIPE);
	check_says_nothing();
}

/* It reads a FIFO whose writer pauses. */
TEST(test_signal_during_the_open_exits_with_its_status)
{
	pid_t child;
	int fd;

	record_run("a.pfs", &usual);
	ck_assert_int_eq(mkfifo("b.pfs", 0600), 0);
	child = START(false, "a.pfs", "b.pfs");
	fd = open("b.pfs", O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	close(fd);
	ck_assert_int_eq(status_of(child), 128 + SIGTERM);
	check_says_nothing();
}

static ino_t inode_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	return status.st_ino;
}

TEST(test_html_page_does_not_overwrite_a_recording)
{
	ino_t before;

	record_run("a.pfs", &usual);
	record_run("b.pfs", &usual);
	before = inode_of("b.pfs");
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--html", "b.pfs"), 2);
	text_file_check("err", "--html and the second recording are the same file, 'b.pfs'; name");
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--html", "./a.pfs"), 2);
	ck_assert_int_eq(link("b.pfs", "hard"), 0);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs", "--html", "hard"), 2);
	unlink("hard");
	ck_assert_uint_eq(inode_of("b.pfs"), before);
	ck_assert_int_eq(RUN("a.pfs", "b.pfs"), 0);
}

FIXTURE(make_folder, remove_folder);
