// SPDX-License-Identifier: GPL-2.0-only
/* JSON output, parsed back and checked against the schema. */
#include <jansson.h>
#include <math.h>

#include "print/print_report.h"
#include "runner.h"
#include "sample_run.h"
#include "schema.h"
#include "util/json_value.h"

static char key_set_twice[64];

/*
 * Replaces jansson's function in the program under test. An object keeps only the last value for a
 * key, so a parser of the printed text cannot see that a key was set twice.
 */
int json_object_set_new(json_t *object, const char *key, json_t *value)
{
	if (json_object_get(object, key))
		snprintf(key_set_twice, sizeof(key_set_twice), "%s", key);
	return json_object_set_new_nocheck(object, key, value);
}

/* Each test has a run whose disk faults took 150 µs, and the JSON it printed last. */
static struct sample_run run;
static struct schema schema;
static json_t *json;

static void open_run(void)
{
	sample_open(&run, 150000);
	schema = schema_load();
}

static void close_run(void)
{
	json_decref(json);
	json_decref((json_t *)schema.root);
	sample_close(&run);
}

FIXTURE(open_run, close_run);

static void open_empty(void)
{
	sample_close(&run);
	sample_open_empty(&run);
}

static bool accepted(void)
{
	return schema_accepts(&schema, schema.root, json, "$");
}

static void print_runs(const struct report *runs, size_t nr)
{
	char *text = sample_print(REPORT_JSON, runs, nr);
	json_error_t error;

	json_decref(json);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(json, "%s at %d:%d", error.text, error.line, error.column);
	free(text);
	ck_assert_msg(accepted(), "%s", schema.why);
}

static void print_run(void)
{
	print_runs(&run.report, 1);
}

/* The value at a path of keys and indices, for example "groups.rows.0.faults". */
static json_t *at(const char *path)
{
	char copy[128], *key, *rest = copy;
	json_t *value = json;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((key = strsep(&rest, ".")))
		value = json_is_array(value) ? json_array_get(value, atoi(key)) :
					       json_object_get(value, key);
	ck_assert_msg(value, "no %s", path);
	return value;
}

static void check_integer(const char *path, json_int_t value)
{
	ck_assert_msg(json_is_integer(at(path)), "%s is no integer", path);
	ck_assert_msg(json_integer_value(at(path)) == value, "%s: %lld, not %lld", path,
		      json_integer_value(at(path)), value);
}

static void check_real(const char *path, double value)
{
	ck_assert_msg(json_is_number(at(path)), "%s is no number", path);
	ck_assert_msg(fabs(json_number_value(at(path)) - value) < 0.001, "%s: %f, not %f", path,
		      json_number_value(at(path)), value);
}

static void check_string(const char *path, const char *value)
{
	ck_assert_pstr_eq(json_string_value(at(path)), value);
}

static void check_bool(const char *path, bool value)
{
	ck_assert_msg(json_is_boolean(at(path)) && json_is_true(at(path)) == value, "%s", path);
}

static void check_size(const char *path, size_t size)
{
	ck_assert_msg(json_is_array(at(path)), "%s is no array", path);
	ck_assert_uint_eq(json_array_size(at(path)), size);
}

#define check_nulls(...) check_null_paths((const char *const[]){ __VA_ARGS__, NULL })

static void check_null_paths(const char *const *paths)
{
	for (; *paths; paths++)
		ck_assert_msg(json_is_null(at(*paths)), "%s is not null", *paths);
}

TEST(test_one_run_matches_the_schema)
{
	print_run();
}

TEST(test_limits_of_a_cgroup_match_the_schema)
{
	struct cgroup_limits *limits = &run.report.cgroup;

	strcpy(limits->path, "/sys/fs/cgroup/a/b");
	limits->pressure.cpu_full_ns = 7;
	strcpy(limits->cpu.path, "/sys/fs/cgroup/a");
	limits->cpu.throttled = 31;
	strcpy(limits->memory.path, "/sys/fs/cgroup/a");
	limits->memory.high = 5;
	run.report.evidence.limits_known = true;
	run.report.evidence.throttled.count = 3;
	print_run();
}

TEST(test_each_key_is_set_once)
{
	sample_groups(&run, GROUP_BY_FILE);
	print_run();
	ck_assert_str_eq(key_set_twice, "");
}

TEST(test_a_key_that_is_set_twice_is_found)
{
	json_t *object = value_with(json_object(), "late", json_null());

	ck_assert_str_eq(key_set_twice, "");
	object = value_with(object, "late", json_true());
	ck_assert_str_eq(key_set_twice, "late");
	json_decref(object);
}

TEST(test_empty_run_matches_the_schema)
{
	open_empty();
	print_run();
}

TEST(test_several_runs_match_the_schema)
{
	struct sample_run runs[2];
	struct report reports[2];

	sample_open(&runs[0], 150000);
	sample_open_empty(&runs[1]);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	print_runs(reports, 2);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

TEST(test_schema_refuses_each_unknown_and_each_missing_key)
{
	sample_groups(&run, GROUP_BY_FILE);
	print_run();
	/* 25 keys in the run, 29 in the environment, 4 + 16 in study, 9 + 63 in classes, … */
	ck_assert_uint_ge(schema_check_strict(&schema, json, json), 900);
	ck_assert(accepted());
}

TEST(test_schema_refuses_wrong_types)
{
	json_t *ledger;

	print_run();
	ledger = json_incref(at("ledger"));
	json_object_set_new(json, "lost", json_string("0"));
	ck_assert(!accepted());
	json_object_set_new(json, "lost", json_integer(-1));
	ck_assert(!accepted());
	json_object_set_new(json, "lost", json_integer(0));
	json_object_set_new(json, "ledger", json_null());
	ck_assert(!accepted());
	json_object_set(json, "ledger", ledger);
	ck_assert(accepted());
	json_object_set_new(at("environment"), "cache", json_string("tepid"));
	ck_assert(!accepted());
	json_decref(ledger);
}

TEST(test_figures_match_the_run)
{
	print_run();
	check_integer("classes.disk.count", SAMPLE_DISK);
	check_integer("classes.wait.count", SAMPLE_WAIT);
	check_integer("classes.around.count", SAMPLE_AROUND);
	check_integer("classes.disk.p50_ns", 150000);
	check_integer("classes.disk.p99_ns", 150000);
	check_integer("classes.disk.max_ns", 150000);
	check_integer("classes.disk.total_ns", SAMPLE_DISK * 150000LL);
	check_integer("classes.disk.off_cpu_ns", SAMPLE_DISK * 145000LL);
	check_integer("classes.short.off_cpu_ns", 0);
	check_real("classes.short.mean_ns", 300);
	check_integer("calls", SAMPLE_CALLS);
	check_integer("lost", 0);
	check_integer("retried", SAMPLE_RETRIED);
	check_integer("faults", SAMPLE_FAULTS);
	check_integer("major", SAMPLE_RETRIED);
	check_integer("pages_touched", SAMPLE_FAULTS);
	check_integer("elapsed_ns", 1234567890);
	check_integer("rusage.majflt", SAMPLE_RETRIED - 3);
	check_integer("rusage.nvcsw", 6150);
	check_integer("rusage.utime_us", 1000005);
	check_integer("rusage.maxrss_kb", 3 << 10);
	check_integer("events_lost", 0);
	check_integer("events_skipped", 0);
	check_integer("events_received", 3 * SAMPLE_RETRIED);
	check_integer("off_cpu_count", SAMPLE_RETRIED);
}

TEST(test_own_cost_covers_all_calls)
{
	double added_ns;

	print_run();
	check_real("cost.call_ns", 260.3);
	check_real("cost.inside_ns", 27.5);
	check_real("cost.total_ns", 260.3 * SAMPLE_CALLS);
	check_real("cost.bpf_hooked_ns", 1693);
	check_real("cost.bpf_again_ns", 423);
	check_real("cost.bpf_other_ns", 2250);
	check_real("cost.bpf_total_ns", 1693.0 * SAMPLE_FAULTS + 2250 * 20);
	added_ns = 260.3 * SAMPLE_CALLS + 1693.0 * SAMPLE_FAULTS + 2250 * 20;
	check_real("cost.added_ns", added_ns);
	check_real("cost.added_percent", 100 * added_ns / run.report.faults.all.whole.total_ns);
	check_nulls("cost.missing");
	run.report.cost.bpf_other = 0;
	run.report.cost.bpf_other_ps = COUNT_NA;
	print_run();
	check_nulls("cost.bpf_other_ns");
	check_real("cost.bpf_total_ns", 1693.0 * SAMPLE_FAULTS);
	run.report.cost.bpf_hooked = COUNT_NA;
	print_run();
	check_nulls("cost.bpf_total_ns", "cost.added_ns", "cost.added_percent");
	check_string("cost.missing", "it is not known how many faults there were");
	run.report.cost.inside_ps = COUNT_NA;
	run.report.cost.calls = COUNT_NA;
	print_run();
	check_nulls("cost.inside_ns", "cost.total_ns", "cost.added_ns");
	check_string("cost.missing", "it is not known how many calls there were");
}

TEST(test_own_cost_is_subtracted_on_request)
{
	run.report.cost.subtract = true;
	print_run();
	check_real("study.long.mean_ns", 6500 - 27.5);
	check_real("classes.short.mean_ns", 300 - 27.5);
	check_integer("classes.disk.max_ns", 150000 - 27);
	check_bool("cost.subtracted", true);
	run.report.cost.inside_ps = COUNT_NA;
	print_run();
	check_real("study.long.mean_ns", 6500);
	check_bool("cost.subtracted", false);
	run.report.cost.inside_ps = 1000000000;
	print_run();
	check_real("study.long.mean_ns", 0);
	/* The cost exceeds the duration of a short call: the result is 0, not negative. */
	run.report.cost.inside_ps = 1000000;
	print_run();
	check_integer("study.short.total_ns", 0);
	check_integer("study.all.total_ns", 6198 * 149000LL + 5101 * 5500LL);
}

TEST(test_study_columns_are_sums_of_classes)
{
	print_run();
	check_integer("study.disk.count", 6198);
	check_integer("study.short.count", 6198);
	check_integer("study.long.count", 5101);
	check_integer("study.all.count", 17497);
	check_real("study.disk.percent", 35.423);
	check_real("study.all.percent", 100);
	check_real("study.long.mean_ns", 6500);
	check_integer("study.all.total_ns", 6198 * 150000LL + 6198 * 300LL + 5101 * 6500LL);
}

TEST(test_study_omits_calls_that_are_not_faults)
{
	struct pfstat_record record = { .tid = 1, .duration_ns = 10 };

	open_empty();
	for (record.class = 0; record.class < PFSTAT_NR_CLASSES; record.class++) {
		record.start_ns += 100;
		ck_assert_int_eq(explain_record(run.calls, &record), 0);
	}
	print_run();
	check_integer("study.disk.count", 3);
	check_integer("study.short.count", 1);
	check_integer("study.long.count", 2);
	check_integer("study.all.count", 6);
	check_integer("classes.mkwrite.count", 1);
	check_integer("classes.pass.count", 1);
	check_integer("classes.error.count", 1);
}

TEST(test_unmeasured_values_are_null)
{
	sample_without_bpf(&run.report);
	run.report.environment.readahead_bytes = -1;
	run.report.environment.pinned_cpu = -1;
	run.report.environment.device[0] = '\0';
	run.report.environment.fault_around_bytes = 0;
	print_run();
	check_nulls("classes.disk.off_cpu_ns", "syscalls", "events_lost", "events_skipped",
		    "events_sent", "off_cpu_count", "off_cpu_partial", "requests", "readahead",
		    "groups", "damage", "parts.residue_share");
	check_bool("parts.known", false);
	check_nulls("parts.classes.disk.parts.device.total_ns", "parts.classes.anon.count");
	check_integer("parts.classes.disk.count", SAMPLE_DISK);
	check_nulls("environment.readahead_bytes", "environment.pinned_cpu", "environment.device",
		    "environment.fault_around_bytes");
	check_string("bpf_missing", "not permitted: run as root");
}

TEST(test_empty_class_has_a_total_of_0_and_no_mean)
{
	open_empty();
	print_run();
	check_integer("classes.disk.count", 0);
	check_integer("classes.disk.total_ns", 0);
	check_nulls("classes.disk.mean_ns", "classes.disk.p50_ns", "classes.disk.p99_ns",
		    "classes.disk.max_ns", "study.disk.mean_ns", "study.disk.percent");
}

TEST(test_read_ahead_of_zero_is_zero)
{
	run.report.environment.readahead_bytes = 0;
	print_run();
	check_integer("environment.readahead_bytes", 0);
	check_integer("environment.pinned_cpu", 0);
}

TEST(test_arbitrary_file_names_give_valid_json)
{
	strcpy(run.report.environment.file, "/a\xff\xc3/\xe2\x82\xac\"\n\x1b\xf0\x9f");
	print_run();
	check_string("environment.file", "/a\ufffd\ufffd/€\"\n\x1b\ufffd\ufffd");
}

TEST(test_seed_keeps_all_its_bits)
{
	run.report.environment.seed = INT64_MAX;
	print_run();
	check_integer("environment.seed", INT64_MAX);
	run.report.environment.seed = UINT64_MAX;
	print_run();
	check_string("environment.seed", "18446744073709551615");
}

TEST(test_system_calls_have_names_results_and_histograms)
{
	print_run();
	check_size("syscalls", 3);
	check_string("syscalls.0.name", "read");
	check_integer("syscalls.0.error", 0);
	check_integer("syscalls.0.count", 12);
	check_real("syscalls.0.mean_ns", 10288);
	/* Bucket 14 is the last one other than 0. */
	check_size("syscalls.0.log2_ns", 15);
	check_integer("syscalls.0.log2_ns.0", 2);
	check_integer("syscalls.0.log2_ns.14", 10);
	check_string("syscalls.1.name", "clock_nanosleep");
	check_integer("syscalls.1.error", EINTR);
	check_nulls("syscalls.2.name");
	check_integer("syscalls.2.number", 99999);
	check_size("syscalls.2.log2_ns", 40);
}

TEST(test_no_system_calls_is_an_empty_list)
{
	run.report.syscalls.nr = 0;
	print_run();
	check_size("syscalls", 0);
}

TEST(test_parts_match_the_run)
{
	run.report.faults.all.whole.total_ns = 80000;
	print_run();
	check_bool("parts.known", true);
	check_bool("parts.cpu_at_most", false);
	check_real("parts.residue_share", 0.1);
	check_integer("parts.classes.disk.count", SAMPLE_DISK);
	check_integer("parts.classes.disk.major", SAMPLE_DISK);
	check_integer("parts.classes.disk.unsolved", 0);
	check_integer("parts.classes.disk.total_ns", SAMPLE_DISK * 150400LL);
	check_real("parts.classes.disk.mean_ns", 150400);
	check_integer("parts.classes.disk.max_ns", 150400);
	check_integer("parts.classes.disk.parts.device.total_ns", SAMPLE_DISK * 130000LL);
	check_real("parts.classes.disk.parts.device.mean_ns", 130000);
	check_integer("parts.classes.disk.parts.runqueue.p99_ns", 15000);
	check_integer("parts.classes.disk.parts.blocked.total_ns", 0);
	check_integer("parts.classes.disk.parts.device.faults", SAMPLE_DISK);
	check_integer("parts.classes.disk.parts.blocked.faults", 0);
	check_integer("parts.all.parts.device.faults", SAMPLE_DISK + SAMPLE_READAHEAD);
	check_integer("parts.classes.wait.parts.foreign.p50_ns", 145000);
	check_integer("parts.classes.swap.count", 0);
	check_nulls("parts.classes.swap.parts.device.mean_ns");
	check_integer("parts.all.count", SAMPLE_FAULTS + 20);
	check_integer("parts.all.parts.residue.total_ns", 8000);
}

static const struct contents_figures some_contents = {
	.by = {
		[PFSTAT_CONTENT_ZERO] = { .count = 7, .total_ns = 7000 },
		[PFSTAT_CONTENT_FORK] = { .count = 9, .total_ns = 9000 },
		[PFSTAT_CONTENT_NEW] = { .count = 11, .total_ns = 11000 },
	},
	.after_fork = { .count = 5, .total_ns = 5000 },
	.fork_pid = 77,
	.fork_pid_count = 4,
	.huge[0] = { .order = 9, .anon = { .count = 2, .total_ns = 600000 } },
	.dax_small = 3,
};

TEST(test_standstill_has_the_bounds_that_are_known)
{
	print_run();
	check_nulls("standstill");
	run.report.evidence.depth = 3;
	run.report.evidence.depth_max = 4;
	run.report.evidence.standstill = (struct standstill_figures){
		.most = { .pid = 12,
			  .name = "sorter",
			  .threads = 5,
			  .still = { 600000, 700000 },
			  .several = { 50000, 60000 } },
		.processes = 2,
		.complete = true,
		.wakeups_known = true,
	};
	run.report.losses.events = 0;
	run.report.losses.records = 0;
	print_run();
	check_integer("in_flight.most_min", 3);
	check_integer("in_flight.most_max", 4);
	check_integer("standstill.pid", 12);
	check_integer("standstill.threads", 5);
	check_integer("standstill.still.min_ns", 600000);
	check_integer("standstill.several.max_ns", 60000);
	run.report.evidence.standstill.wakeups_known = false;
	print_run();
	check_nulls("standstill.still.min_ns");
	check_integer("standstill.still.max_ns", 700000);
}

TEST(test_contents_have_copies_forks_and_huge_pages)
{
	print_run();
	check_integer("contents.zero.count", 0);
	check_nulls("contents.fork_pid");
	check_size("contents.huge", 0);
	run.report.contents = some_contents;
	run.report.environment.page_bytes = 4096;
	print_run();
	check_integer("contents.zero.count", 7);
	check_integer("contents.fork.total_ns", 9000);
	check_integer("contents.new.count", 11);
	check_integer("contents.after_fork.count", 5);
	check_integer("contents.fork_pid", 77);
	check_integer("contents.dax_small", 3);
	strcpy(run.report.environment.source, "ebpf");
	print_run();
	run.report.bpf.hooks &= ~(1U << HOOK_FAULT);
	print_run();
	check_nulls("contents");
}

TEST(test_mechanisms_are_null_without_notes)
{
	print_run();
	check_nulls("mechanisms");
	run.report.contents.notes = true;
	run.report.contents.mechanisms[MECHANISM_NUMA_MOVED] =
		(struct evidence_sum){ .count = 7, .total_ns = 7000 };
	print_run();
	check_integer("mechanisms.numa_moved.count", 7);
	check_integer("mechanisms.numa_moved.total_ns", 7000);
	check_integer("mechanisms.unknown.count", 0);
}

TEST(test_values_without_their_hook_are_null)
{
	run.report.bpf.hooks &= ~(1U << HOOK_WAKEUP | 1U << HOOK_BLOCK_INSERT | 1U << HOOK_WP |
				  1U << HOOK_PAGE_DELETE);
	print_run();
	check_nulls("parts.classes.disk.parts.runqueue.total_ns",
		    "parts.classes.disk.parts.queue.p99_ns", "parts.all.parts.runqueue.max_ns",
		    "parts.classes.cow.count", "requests.queue.total_ns", "readahead.idle",
		    "readahead.evicted_unused");
	check_integer("readahead.mapped", 7000);
	check_integer("requests.device.p99_ns", 140000);
	check_integer("parts.classes.anon.count", 20);
	run.report.bpf.hooks = 1U << HOOK_FAULT;
	print_run();
	check_nulls("requests", "readahead", "parts.classes.disk.parts.device.total_ns");
}

TEST(test_values_that_perf_does_not_report_are_null)
{
	struct report reports[2];

	strcpy(run.report.environment.source, "perf");
	run.report.bpf.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
	print_run();
	check_string("environment.source", "perf");
	check_nulls("study.disk.count", "study.all.total_ns", "classes.disk.count",
		    "classes.disk.total_ns", "late", "retried", "faults", "major", "unfinished",
		    "off_cpu_partial", "parts.classes.disk.count", "parts.classes.cow.count",
		    "parts.classes.anon.pages", "parts.all.pages",
		    "parts.all.parts.device.total_ns", "requests", "readahead", "shaping_calls");
	check_integer("parts.classes.anon.count", 20);
	check_integer("parts.all.parts.asleep.total_ns", 0);
	check_integer("parts.all.parts.runqueue.total_ns", 90720000);
	reports[0] = run.report;
	reports[1] = run.report;
	print_runs(reports, 2);
	check_nulls("mean.study.all.total_ns", "mean.faults");
}

TEST(test_requests_and_pages_match_the_run)
{
	print_run();
	check_integer("requests.reads", 6048);
	check_integer("requests.bytes_read", 6048 * 4096);
	check_integer("requests.writes", 2);
	check_integer("requests.bytes_written", 1 << 20);
	check_integer("requests.errors", 0);
	check_real("requests.device.mean_ns", 130000);
	check_integer("requests.queue.p99_ns", 200);
	check_integer("readahead.read", 8000);
	check_integer("readahead.evicted_unused", 100);
	check_integer("readahead.idle", 900);
	check_integer("readahead.overflow", 0);
}

TEST(test_ledger_has_counts_differences_and_reasons)
{
	run.report.ledger.differences[1].amount = -4;
	run.report.ledger.differences[1].unexplained = -4;
	run.report.ledger.unexplained = 4;
	print_run();
	check_size("ledger.counts", 3);
	check_integer("ledger.counts.0.value", SAMPLE_CALLS);
	check_string("ledger.counts.0.source", "module");
	check_nulls("ledger.counts.2.value");
	check_size("ledger.differences", 3);
	check_integer("ledger.differences.0.amount", 6198);
	check_integer("ledger.differences.0.unexplained", 0);
	check_size("ledger.differences.0.reasons", 2);
	check_integer("ledger.differences.0.reasons.1.amount", -2);
	check_integer("ledger.differences.1.unexplained", -4);
	check_size("ledger.differences.1.reasons", 0);
	check_nulls("ledger.differences.2.amount", "ledger.differences.2.unexplained");
	check_integer("ledger.unexplained", 4);
}

TEST(test_groups_are_the_top_rows_and_the_sum_of_the_rest)
{
	sample_groups(&run, GROUP_BY_THREAD);
	run.report.top = 2;
	run.report.bpf.hooks &= ~(1U << HOOK_SWAP | 1U << HOOK_WAKEUP);
	print_run();
	check_string("groups.by", "thread");
	check_size("groups.rows", 2);
	check_integer("groups.rows.0.faults", 6000);
	check_integer("groups.rows.0.pid", 77);
	check_integer("groups.rows.0.address", 0x7f0000000000);
	check_integer("groups.rows.0.dev", 8 << 20 | 1);
	check_real("groups.rows.0.mean_ns", 150000);
	check_integer("groups.rows.0.classes.disk", 6000);
	check_integer("groups.rows.0.parts.device", 810000000);
	check_nulls("groups.rows.0.tid", "groups.rows.0.classes.swap",
		    "groups.rows.0.parts.runqueue", "groups.rows.1.inode", "groups.rows.1.dev");
	check_integer("groups.left_out.rows", 1);
	check_integer("groups.left_out.faults", 2);
	check_integer("groups.left_out.total_ns", 5000);
	run.report.top = 0;
	print_run();
	check_size("groups.rows", 3);
	check_string("groups.rows.2.inode", "18446744073709551615");
	check_integer("groups.left_out.rows", 0);
}

TEST(test_cut_recording_has_null_counts)
{
	struct report *report = &run.report;

	strcpy(report->environment.kind, "record");
	strcpy(report->environment.command, "cat /etc/passwd");
	report->environment.started_s = 1700000000;
	report->losses.damage = "it was cut";
	report->cost.calls = COUNT_NA;
	report->losses.records = COUNT_NA;
	report->time.elapsed_ns = COUNT_NA;
	report->drive.pages_touched = COUNT_NA;
	report->bpf.have_counts = false;
	report->losses.events = COUNT_NA;
	report->bpf.off_cpu_count = COUNT_NA;
	report->usage.minflt = COUNT_NA;
	report->usage.stime_ns = COUNT_NA;
	print_run();
	check_string("damage", "it was cut");
	check_string("environment.command", "cat /etc/passwd");
	check_string("environment.started", "2023-11-14T22:13:20Z");
	check_nulls("calls", "lost", "elapsed_ns", "pages_touched", "syscalls", "events_lost",
		    "rusage.minflt", "rusage.stime_us", "environment.accesses", "environment.seed");
	check_bool("parts.known", true);
}

TEST(test_several_runs_have_mean_and_deviation)
{
	struct sample_run runs[2];
	struct report reports[2];

	sample_open(&runs[0], 100000);
	sample_open(&runs[1], 200000);
	runs[1].report.time.elapsed_ns = 1234567890 + 1000;
	sample_without_bpf(&runs[1].report);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	print_runs(reports, 2);
	check_size("runs", 2);
	check_real("mean.elapsed_ns", 1234567890 + 500);
	check_real("stddev.elapsed_ns", 1000 / sqrt(2));
	check_real("mean.classes.disk.mean_ns", 150000);
	check_real("stddev.classes.disk.mean_ns", 100000 / sqrt(2));
	check_real("mean.study.disk.count", 6198);
	check_real("stddev.study.disk.count", 0);
	check_real("mean.rusage.nvcsw", 6150);
	/* Only one run has this value. */
	check_nulls("mean.classes.disk.off_cpu_ns", "stddev.classes.disk.off_cpu_ns");
	/* Neither run has a fault in this class. */
	check_nulls("mean.classes.error.mean_ns");
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

TEST(test_the_longest_fault_has_its_place_and_its_wait)
{
	char file[] = "/mnt/disk/log", none[] = "", code[] = "f+0x1 (/bin/p)";
	char functions[] = "jbd2_log_wait_commit<ext4_page_mkwrite";

	run.report.evidence.tail = (struct fault_tail){
		.count = 12,
		.total_ns = 90000000,
		.longest = { .duration_ns = 21000000,
			     .inode = 7,
			     .pgoff = 3,
			     .wait = 1,
			     .wait_ns = 20000000,
			     .part = PART_BLOCKED,
			     .part_ns = 20500000,
			     .parts_known = true,
			     .solved = true },
	};
	run.report.evidence.failed_faults = 3;
	run.report.longest =
		(struct longest_names){ file, none, code, "writer", "a journal", functions };
	print_run();
	check_integer("failed_faults", 3);
	check_integer("tail.count", 12);
	check_integer("tail.longest.duration_ns", 21000000);
	check_integer("tail.longest.page", 3);
	check_string("tail.longest.file", file);
	check_nulls("tail.longest.mapping", "tail.longest.ip");
	check_string("tail.longest.part.name", "blocked");
	check_string("tail.longest.wait.cause", "a journal");
	check_size("tail.longest.wait.functions", 2);
}
