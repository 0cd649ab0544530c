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

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(json, "%s at %d:%d", error.text, error.line, error.column);
	return json;
}

static json_t *print_and_parse(const struct report *runs, size_t nr)
{
	char *text = sample_print(REPORT_JSON, runs, nr);
	json_t *json = parse(text);

	free(text);
	return json;
}

static bool accepted(struct schema *schema, const json_t *json)
{
	return schema_accepts(schema, schema->root, json, "$");
}

static void check_schema(const json_t *json)
{
	struct schema schema = schema_load();

	ck_assert_msg(accepted(&schema, json), "%s", schema.why);
	json_decref((json_t *)schema.root);
}

/* The value at a path of keys, for example "classes.disk.count". */
static json_t *at(json_t *json, const char *path)
{
	char copy[128], *key, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((key = strsep(&rest, ".")))
		json = json_object_get(json, key);
	ck_assert_msg(json, "no %s", path);
	return json;
}

static json_int_t integer_at(json_t *json, const char *path)
{
	ck_assert_msg(json_is_integer(at(json, path)), "%s is no integer", path);
	return json_integer_value(at(json, path));
}

static void check_null(json_t *json, const char *path)
{
	ck_assert_msg(json_is_null(at(json, path)), "%s is not null", path);
}

static void check_real(json_t *json, const char *path, double value)
{
	ck_assert_msg(json_is_number(at(json, path)), "%s is no number", path);
	ck_assert_double_eq_tol(json_number_value(at(json, path)), value, 0.001);
}

TEST(test_one_run_matches_the_schema)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	json_decref(json);
	sample_close(&run);
}

TEST(test_limits_of_a_cgroup_match_the_schema)
{
	struct sample_run run;
	struct cgroup_limits *limits = &run.report.cgroup;
	json_t *json;

	sample_open(&run, 150000);
	strcpy(limits->path, "/sys/fs/cgroup/a/b");
	limits->pressure.cpu_full_ns = 7;
	strcpy(limits->cpu.path, "/sys/fs/cgroup/a");
	limits->cpu.throttled = 31;
	strcpy(limits->memory.path, "/sys/fs/cgroup/a");
	limits->memory.high = 5;
	run.report.evidence.limits_known = true;
	run.report.evidence.throttled.count = 3;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	json_decref(json);
	sample_close(&run);
}

TEST(test_each_key_is_set_once)
{
	struct sample_run run;

	sample_open(&run, 150000);
	sample_groups(&run, GROUP_BY_FILE);
	json_decref(print_and_parse(&run.report, 1));
	ck_assert_str_eq(key_set_twice, "");
	sample_close(&run);
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
	struct sample_run run;
	json_t *json;

	sample_open_empty(&run);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	json_decref(json);
	sample_close(&run);
}

TEST(test_several_runs_match_the_schema)
{
	struct sample_run runs[2];
	struct report reports[2];
	json_t *json;

	sample_open(&runs[0], 150000);
	sample_open_empty(&runs[1]);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	json = print_and_parse(reports, 2);
	check_schema(json);
	json_decref(json);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

TEST(test_schema_refuses_each_unknown_and_each_missing_key)
{
	struct schema schema = schema_load();
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	sample_groups(&run, GROUP_BY_FILE);
	json = print_and_parse(&run.report, 1);
	/* 25 keys in the run, 29 in the environment, 4 + 16 in study, 9 + 63 in classes, … */
	ck_assert_uint_ge(schema_check_strict(&schema, json, json), 900);
	ck_assert(accepted(&schema, json));
	json_decref(json);
	json_decref((json_t *)schema.root);
	sample_close(&run);
}

TEST(test_schema_refuses_wrong_types)
{
	struct schema schema = schema_load();
	struct sample_run run;
	json_t *json, *ledger;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	ledger = json_incref(at(json, "ledger"));
	json_object_set_new(json, "lost", json_string("0"));
	ck_assert(!accepted(&schema, json));
	json_object_set_new(json, "lost", json_integer(-1));
	ck_assert(!accepted(&schema, json));
	json_object_set_new(json, "lost", json_integer(0));
	json_object_set_new(json, "ledger", json_null());
	ck_assert(!accepted(&schema, json));
	json_object_set(json, "ledger", ledger);
	ck_assert(accepted(&schema, json));
	json_object_set_new(at(json, "environment"), "cache", json_string("tepid"));
	ck_assert(!accepted(&schema, json));
	json_decref(ledger);
	json_decref(json);
	json_decref((json_t *)schema.root);
	sample_close(&run);
}

TEST(test_figures_match_the_run)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "classes.disk.count"), SAMPLE_DISK);
	ck_assert_int_eq(integer_at(json, "classes.wait.count"), SAMPLE_WAIT);
	ck_assert_int_eq(integer_at(json, "classes.around.count"), SAMPLE_AROUND);
	ck_assert_int_eq(integer_at(json, "classes.disk.p50_ns"), 150000);
	ck_assert_int_eq(integer_at(json, "classes.disk.p99_ns"), 150000);
	ck_assert_int_eq(integer_at(json, "classes.disk.max_ns"), 150000);
	ck_assert_int_eq(integer_at(json, "classes.disk.total_ns"), SAMPLE_DISK * 150000LL);
	ck_assert_int_eq(integer_at(json, "classes.disk.off_cpu_ns"), SAMPLE_DISK * 145000LL);
	ck_assert_int_eq(integer_at(json, "classes.short.off_cpu_ns"), 0);
	check_real(json, "classes.short.mean_ns", 300);
	ck_assert_int_eq(integer_at(json, "calls"), SAMPLE_CALLS);
	ck_assert_int_eq(integer_at(json, "lost"), 0);
	ck_assert_int_eq(integer_at(json, "retried"), SAMPLE_RETRIED);
	ck_assert_int_eq(integer_at(json, "faults"), SAMPLE_FAULTS);
	ck_assert_int_eq(integer_at(json, "major"), SAMPLE_RETRIED);
	ck_assert_int_eq(integer_at(json, "pages_touched"), SAMPLE_FAULTS);
	ck_assert_int_eq(integer_at(json, "elapsed_ns"), 1234567890);
	ck_assert_int_eq(integer_at(json, "rusage.majflt"), SAMPLE_RETRIED - 3);
	ck_assert_int_eq(integer_at(json, "rusage.nvcsw"), 6150);
	ck_assert_int_eq(integer_at(json, "rusage.utime_us"), 1000005);
	ck_assert_int_eq(integer_at(json, "rusage.maxrss_kb"), 3 << 10);
	ck_assert_int_eq(integer_at(json, "events_lost"), 0);
	ck_assert_int_eq(integer_at(json, "events_skipped"), 0);
	ck_assert_int_eq(integer_at(json, "events_received"), 3 * SAMPLE_RETRIED);
	ck_assert_int_eq(integer_at(json, "off_cpu_count"), SAMPLE_RETRIED);
	json_decref(json);
	sample_close(&run);
}

TEST(test_own_cost_covers_all_calls)
{
	struct sample_run run;
	double added_ns;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	check_real(json, "cost.call_ns", 260.3);
	check_real(json, "cost.inside_ns", 27.5);
	check_real(json, "cost.total_ns", 260.3 * SAMPLE_CALLS);
	check_real(json, "cost.bpf_hooked_ns", 1693);
	check_real(json, "cost.bpf_again_ns", 423);
	check_real(json, "cost.bpf_other_ns", 2250);
	check_real(json, "cost.bpf_total_ns", 1693.0 * SAMPLE_FAULTS + 2250 * 20);
	added_ns = 260.3 * SAMPLE_CALLS + 1693.0 * SAMPLE_FAULTS + 2250 * 20;
	check_real(json, "cost.added_ns", added_ns);
	check_real(json, "cost.added_percent",
		   100 * added_ns / run.report.faults.all.whole.total_ns);
	check_null(json, "cost.missing");
	json_decref(json);
	run.report.cost.bpf_other = 0;
	run.report.cost.bpf_other_ps = COUNT_NA;
	json = print_and_parse(&run.report, 1);
	check_null(json, "cost.bpf_other_ns");
	check_real(json, "cost.bpf_total_ns", 1693.0 * SAMPLE_FAULTS);
	json_decref(json);
	run.report.cost.bpf_hooked = COUNT_NA;
	json = print_and_parse(&run.report, 1);
	check_null(json, "cost.bpf_total_ns");
	check_null(json, "cost.added_ns");
	check_null(json, "cost.added_percent");
	ck_assert_pstr_eq(json_string_value(at(json, "cost.missing")),
			  "it is not known how many faults there were");
	json_decref(json);
	run.report.cost.inside_ps = COUNT_NA;
	run.report.cost.calls = COUNT_NA;
	json = print_and_parse(&run.report, 1);
	check_null(json, "cost.inside_ns");
	check_null(json, "cost.total_ns");
	check_null(json, "cost.added_ns");
	ck_assert_pstr_eq(json_string_value(at(json, "cost.missing")),
			  "it is not known how many calls there were");
	json_decref(json);
	sample_close(&run);
}

TEST(test_own_cost_is_subtracted_on_request)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.cost.subtract = true;
	json = print_and_parse(&run.report, 1);
	check_real(json, "study.long.mean_ns", 6500 - 27.5);
	check_real(json, "classes.short.mean_ns", 300 - 27.5);
	ck_assert_int_eq(integer_at(json, "classes.disk.max_ns"), 150000 - 27);
	ck_assert(json_is_true(at(json, "cost.subtracted")));
	json_decref(json);
	run.report.cost.inside_ps = COUNT_NA;
	json = print_and_parse(&run.report, 1);
	check_real(json, "study.long.mean_ns", 6500);
	ck_assert(json_is_false(at(json, "cost.subtracted")));
	json_decref(json);
	run.report.cost.inside_ps = 1000000000;
	json = print_and_parse(&run.report, 1);
	check_real(json, "study.long.mean_ns", 0);
	json_decref(json);
	/* The cost exceeds the duration of a short call: the result is 0, not negative. */
	run.report.cost.inside_ps = 1000000;
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "study.short.total_ns"), 0);
	ck_assert_int_eq(integer_at(json, "study.all.total_ns"), 6198 * 149000LL + 5101 * 5500LL);
	json_decref(json);
	sample_close(&run);
}

TEST(test_study_columns_are_sums_of_classes)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "study.disk.count"), 6198);
	ck_assert_int_eq(integer_at(json, "study.short.count"), 6198);
	ck_assert_int_eq(integer_at(json, "study.long.count"), 5101);
	ck_assert_int_eq(integer_at(json, "study.all.count"), 17497);
	check_real(json, "study.disk.percent", 35.423);
	check_real(json, "study.all.percent", 100);
	check_real(json, "study.long.mean_ns", 6500);
	ck_assert_int_eq(integer_at(json, "study.all.total_ns"),
			 6198 * 150000LL + 6198 * 300LL + 5101 * 6500LL);
	json_decref(json);
	sample_close(&run);
}

TEST(test_study_omits_calls_that_are_not_faults)
{
	struct sample_run run;
	struct pfstat_record record = { .tid = 1, .duration_ns = 10 };
	json_t *json;

	sample_open_empty(&run);
	for (record.class = 0; record.class < PFSTAT_NR_CLASSES; record.class++) {
		record.start_ns += 100;
		ck_assert_int_eq(explain_record(run.calls, &record), 0);
	}
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "study.disk.count"), 3);
	ck_assert_int_eq(integer_at(json, "study.short.count"), 1);
	ck_assert_int_eq(integer_at(json, "study.long.count"), 2);
	ck_assert_int_eq(integer_at(json, "study.all.count"), 6);
	ck_assert_int_eq(integer_at(json, "classes.mkwrite.count"), 1);
	ck_assert_int_eq(integer_at(json, "classes.pass.count"), 1);
	ck_assert_int_eq(integer_at(json, "classes.error.count"), 1);
	json_decref(json);
	sample_close(&run);
}

TEST(test_unmeasured_values_are_null)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	sample_without_bpf(&run.report);
	run.report.environment.readahead_bytes = -1;
	run.report.environment.pinned_cpu = -1;
	run.report.environment.device[0] = '\0';
	run.report.environment.fault_around_bytes = 0;
	json = print_and_parse(&run.report, 1);
	check_null(json, "classes.disk.off_cpu_ns");
	check_null(json, "syscalls");
	check_null(json, "events_lost");
	check_null(json, "events_skipped");
	check_null(json, "events_sent");
	check_null(json, "off_cpu_count");
	check_null(json, "off_cpu_partial");
	check_null(json, "requests");
	check_null(json, "readahead");
	check_null(json, "groups");
	check_null(json, "damage");
	check_null(json, "parts.residue_share");
	ck_assert(json_is_false(at(json, "parts.known")));
	check_null(json, "parts.classes.disk.parts.device.total_ns");
	check_null(json, "parts.classes.anon.count");
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.count"), SAMPLE_DISK);
	check_null(json, "environment.readahead_bytes");
	check_null(json, "environment.pinned_cpu");
	check_null(json, "environment.device");
	check_null(json, "environment.fault_around_bytes");
	ck_assert_str_eq(json_string_value(at(json, "bpf_missing")), "not permitted: run as root");
	json_decref(json);
	sample_close(&run);
}

TEST(test_empty_class_has_a_total_of_0_and_no_mean)
{
	struct sample_run run;
	json_t *json;

	sample_open_empty(&run);
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "classes.disk.count"), 0);
	ck_assert_int_eq(integer_at(json, "classes.disk.total_ns"), 0);
	check_null(json, "classes.disk.mean_ns");
	check_null(json, "classes.disk.p50_ns");
	check_null(json, "classes.disk.p99_ns");
	check_null(json, "classes.disk.max_ns");
	check_null(json, "study.disk.mean_ns");
	check_null(json, "study.disk.percent");
	json_decref(json);
	sample_close(&run);
}

TEST(test_read_ahead_of_zero_is_zero)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.environment.readahead_bytes = 0;
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "environment.readahead_bytes"), 0);
	ck_assert_int_eq(integer_at(json, "environment.pinned_cpu"), 0);
	json_decref(json);
	sample_close(&run);
}

TEST(test_arbitrary_file_names_give_valid_json)
{
	struct sample_run run;
	const char *name;
	json_t *json;

	sample_open(&run, 150000);
	strcpy(run.report.environment.file, "/a\xff\xc3/\xe2\x82\xac\"\n\x1b\xf0\x9f");
	json = print_and_parse(&run.report, 1);
	name = json_string_value(at(json, "environment.file"));
	ck_assert_str_eq(name, "/a\ufffd\ufffd/€\"\n\x1b\ufffd\ufffd");
	json_decref(json);
	sample_close(&run);
}

TEST(test_seed_keeps_all_its_bits)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.environment.seed = INT64_MAX;
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "environment.seed"), INT64_MAX);
	json_decref(json);
	run.report.environment.seed = UINT64_MAX;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	ck_assert_str_eq(json_string_value(at(json, "environment.seed")), "18446744073709551615");
	json_decref(json);
	sample_close(&run);
}

TEST(test_system_calls_have_names_results_and_histograms)
{
	struct sample_run run;
	json_t *json, *list, *call;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	list = at(json, "syscalls");
	ck_assert_uint_eq(json_array_size(list), 3);
	call = json_array_get(list, 0);
	ck_assert_str_eq(json_string_value(at(call, "name")), "read");
	ck_assert_int_eq(integer_at(call, "error"), 0);
	ck_assert_int_eq(integer_at(call, "count"), 12);
	check_real(call, "mean_ns", 10288);
	/* Bucket 14 is the last one other than 0. */
	ck_assert_uint_eq(json_array_size(at(call, "log2_ns")), 15);
	ck_assert_int_eq(json_integer_value(json_array_get(at(call, "log2_ns"), 0)), 2);
	ck_assert_int_eq(json_integer_value(json_array_get(at(call, "log2_ns"), 14)), 10);
	call = json_array_get(list, 1);
	ck_assert_str_eq(json_string_value(at(call, "name")), "clock_nanosleep");
	ck_assert_int_eq(integer_at(call, "error"), EINTR);
	call = json_array_get(list, 2);
	check_null(call, "name");
	ck_assert_int_eq(integer_at(call, "number"), 99999);
	ck_assert_uint_eq(json_array_size(at(call, "log2_ns")), 40);
	json_decref(json);
	sample_close(&run);
}

TEST(test_no_system_calls_is_an_empty_list)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.syscalls.nr = 0;
	json = print_and_parse(&run.report, 1);
	ck_assert(json_is_array(at(json, "syscalls")));
	ck_assert_uint_eq(json_array_size(at(json, "syscalls")), 0);
	json_decref(json);
	sample_close(&run);
}

TEST(test_parts_match_the_run)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.faults.all.whole.total_ns = 80000;
	json = print_and_parse(&run.report, 1);
	ck_assert(json_is_true(at(json, "parts.known")));
	check_real(json, "parts.residue_share", 0.1);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.count"), SAMPLE_DISK);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.major"), SAMPLE_DISK);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.unsolved"), 0);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.total_ns"), SAMPLE_DISK * 150400LL);
	check_real(json, "parts.classes.disk.mean_ns", 150400);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.max_ns"), 150400);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.parts.device.total_ns"),
			 SAMPLE_DISK * 130000LL);
	check_real(json, "parts.classes.disk.parts.device.mean_ns", 130000);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.parts.runqueue.p99_ns"), 15000);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.parts.blocked.total_ns"), 0);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.parts.device.faults"), SAMPLE_DISK);
	ck_assert_int_eq(integer_at(json, "parts.classes.disk.parts.blocked.faults"), 0);
	ck_assert_int_eq(integer_at(json, "parts.all.parts.device.faults"),
			 SAMPLE_DISK + SAMPLE_READAHEAD);
	ck_assert_int_eq(integer_at(json, "parts.classes.wait.parts.foreign.p50_ns"), 145000);
	ck_assert_int_eq(integer_at(json, "parts.classes.swap.count"), 0);
	check_null(json, "parts.classes.swap.parts.device.mean_ns");
	ck_assert_int_eq(integer_at(json, "parts.all.count"), SAMPLE_FAULTS + 20);
	ck_assert_int_eq(integer_at(json, "parts.all.parts.residue.total_ns"), 8000);
	json_decref(json);
	sample_close(&run);
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
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	check_null(json, "standstill");
	json_decref(json);
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
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	ck_assert_int_eq(integer_at(json, "in_flight.most_min"), 3);
	ck_assert_int_eq(integer_at(json, "in_flight.most_max"), 4);
	ck_assert_int_eq(integer_at(json, "standstill.pid"), 12);
	ck_assert_int_eq(integer_at(json, "standstill.threads"), 5);
	ck_assert_int_eq(integer_at(json, "standstill.still.min_ns"), 600000);
	ck_assert_int_eq(integer_at(json, "standstill.several.max_ns"), 60000);
	json_decref(json);
	run.report.evidence.standstill.wakeups_known = false;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	check_null(json, "standstill.still.min_ns");
	ck_assert_int_eq(integer_at(json, "standstill.still.max_ns"), 700000);
	json_decref(json);
	sample_close(&run);
}

TEST(test_contents_have_copies_forks_and_huge_pages)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	ck_assert_int_eq(integer_at(json, "contents.zero.count"), 0);
	check_null(json, "contents.fork_pid");
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(json, "contents"),
							  "huge")),
			  0);
	json_decref(json);
	run.report.contents = some_contents;
	run.report.environment.page_bytes = 4096;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	ck_assert_int_eq(integer_at(json, "contents.zero.count"), 7);
	ck_assert_int_eq(integer_at(json, "contents.fork.total_ns"), 9000);
	ck_assert_int_eq(integer_at(json, "contents.new.count"), 11);
	ck_assert_int_eq(integer_at(json, "contents.after_fork.count"), 5);
	ck_assert_int_eq(integer_at(json, "contents.fork_pid"), 77);
	ck_assert_int_eq(integer_at(json, "contents.dax_small"), 3);
	json_decref(json);
	strcpy(run.report.environment.source, "ebpf");
	json = print_and_parse(&run.report, 1);
	json_decref(json);
	run.report.bpf.hooks &= ~(1U << HOOK_FAULT);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	check_null(json, "contents");
	json_decref(json);
	sample_close(&run);
}

TEST(test_values_without_their_hook_are_null)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	run.report.bpf.hooks &= ~(1U << HOOK_WAKEUP | 1U << HOOK_BLOCK_INSERT | 1U << HOOK_WP |
				  1U << HOOK_PAGE_DELETE);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	check_null(json, "parts.classes.disk.parts.runqueue.total_ns");
	check_null(json, "parts.classes.disk.parts.queue.p99_ns");
	check_null(json, "parts.all.parts.runqueue.max_ns");
	check_null(json, "parts.classes.cow.count");
	check_null(json, "requests.queue.total_ns");
	check_null(json, "readahead.idle");
	check_null(json, "readahead.evicted_unused");
	ck_assert_int_eq(integer_at(json, "readahead.mapped"), 7000);
	ck_assert_int_eq(integer_at(json, "requests.device.p99_ns"), 140000);
	ck_assert_int_eq(integer_at(json, "parts.classes.anon.count"), 20);
	json_decref(json);
	run.report.bpf.hooks = 1U << HOOK_FAULT;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	check_null(json, "requests");
	check_null(json, "readahead");
	check_null(json, "parts.classes.disk.parts.device.total_ns");
	json_decref(json);
	sample_close(&run);
}

static void open_perf_run(struct sample_run *run)
{
	sample_open(run, 150000);
	strcpy(run->report.environment.source, "perf");
	run->report.bpf.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
}

TEST(test_values_that_perf_does_not_report_are_null)
{
	struct sample_run runs[2];
	struct report reports[2];
	json_t *json;

	open_perf_run(&runs[0]);
	open_perf_run(&runs[1]);
	json = print_and_parse(&runs[0].report, 1);
	check_schema(json);
	ck_assert_str_eq(json_string_value(at(json, "environment.source")), "perf");
	check_null(json, "study.disk.count");
	check_null(json, "study.all.total_ns");
	check_null(json, "classes.disk.count");
	check_null(json, "classes.disk.total_ns");
	check_null(json, "late");
	check_null(json, "retried");
	check_null(json, "faults");
	check_null(json, "major");
	check_null(json, "unfinished");
	check_null(json, "off_cpu_partial");
	check_null(json, "parts.classes.disk.count");
	check_null(json, "parts.classes.cow.count");
	check_null(json, "parts.classes.anon.pages");
	check_null(json, "parts.all.pages");
	check_null(json, "parts.all.parts.device.total_ns");
	check_null(json, "requests");
	check_null(json, "readahead");
	check_null(json, "shaping_calls");
	ck_assert_int_eq(integer_at(json, "parts.classes.anon.count"), 20);
	integer_at(json, "parts.all.parts.asleep.total_ns");
	integer_at(json, "parts.all.parts.runqueue.total_ns");
	json_decref(json);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	json = print_and_parse(reports, 2);
	check_schema(json);
	check_null(json, "mean.study.all.total_ns");
	check_null(json, "mean.faults");
	json_decref(json);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

TEST(test_requests_and_pages_match_the_run)
{
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
	json = print_and_parse(&run.report, 1);
	ck_assert_int_eq(integer_at(json, "requests.reads"), 6048);
	ck_assert_int_eq(integer_at(json, "requests.bytes_read"), 6048 * 4096);
	ck_assert_int_eq(integer_at(json, "requests.writes"), 2);
	ck_assert_int_eq(integer_at(json, "requests.bytes_written"), 1 << 20);
	ck_assert_int_eq(integer_at(json, "requests.errors"), 0);
	check_real(json, "requests.device.mean_ns", 130000);
	ck_assert_int_eq(integer_at(json, "requests.queue.p99_ns"), 200);
	ck_assert_int_eq(integer_at(json, "readahead.read"), 8000);
	ck_assert_int_eq(integer_at(json, "readahead.evicted_unused"), 100);
	ck_assert_int_eq(integer_at(json, "readahead.idle"), 900);
	ck_assert_int_eq(integer_at(json, "readahead.overflow"), 0);
	json_decref(json);
	sample_close(&run);
}

TEST(test_ledger_has_counts_differences_and_reasons)
{
	struct sample_run run;
	json_t *json, *list, *difference;

	sample_open(&run, 150000);
	run.report.ledger.differences[1].amount = -4;
	run.report.ledger.differences[1].unexplained = -4;
	run.report.ledger.unexplained = 4;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	list = at(json, "ledger.counts");
	ck_assert_uint_eq(json_array_size(list), 3);
	ck_assert_int_eq(integer_at(json_array_get(list, 0), "value"), SAMPLE_CALLS);
	ck_assert_str_eq(json_string_value(at(json_array_get(list, 0), "source")), "module");
	check_null(json_array_get(list, 2), "value");
	list = at(json, "ledger.differences");
	ck_assert_uint_eq(json_array_size(list), 3);
	difference = json_array_get(list, 0);
	ck_assert_int_eq(integer_at(difference, "amount"), 6198);
	ck_assert_int_eq(integer_at(difference, "unexplained"), 0);
	ck_assert_uint_eq(json_array_size(at(difference, "reasons")), 2);
	ck_assert_int_eq(integer_at(json_array_get(at(difference, "reasons"), 1), "amount"), -2);
	difference = json_array_get(list, 1);
	ck_assert_int_eq(integer_at(difference, "unexplained"), -4);
	ck_assert_uint_eq(json_array_size(at(difference, "reasons")), 0);
	check_null(json_array_get(list, 2), "amount");
	check_null(json_array_get(list, 2), "unexplained");
	ck_assert_int_eq(integer_at(json, "ledger.unexplained"), 4);
	json_decref(json);
	sample_close(&run);
}

TEST(test_groups_are_the_top_rows_and_the_sum_of_the_rest)
{
	struct sample_run run;
	json_t *json, *rows;

	sample_open(&run, 150000);
	sample_groups(&run, GROUP_BY_THREAD);
	run.report.top = 2;
	run.report.bpf.hooks &= ~(1U << HOOK_SWAP | 1U << HOOK_WAKEUP);
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	ck_assert_str_eq(json_string_value(at(json, "groups.by")), "thread");
	rows = at(json, "groups.rows");
	ck_assert_uint_eq(json_array_size(rows), 2);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "faults"), 6000);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "pid"), 77);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "address"), 0x7f0000000000);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "dev"), 8 << 20 | 1);
	check_real(json_array_get(rows, 0), "mean_ns", 150000);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "classes.disk"), 6000);
	ck_assert_int_eq(integer_at(json_array_get(rows, 0), "parts.device"), 810000000);
	check_null(json_array_get(rows, 0), "tid");
	check_null(json_array_get(rows, 0), "classes.swap");
	check_null(json_array_get(rows, 0), "parts.runqueue");
	check_null(json_array_get(rows, 1), "inode");
	check_null(json_array_get(rows, 1), "dev");
	ck_assert_int_eq(integer_at(json, "groups.left_out.rows"), 1);
	ck_assert_int_eq(integer_at(json, "groups.left_out.faults"), 2);
	ck_assert_int_eq(integer_at(json, "groups.left_out.total_ns"), 5000);
	json_decref(json);
	run.report.top = 0;
	json = print_and_parse(&run.report, 1);
	check_schema(json);
	rows = at(json, "groups.rows");
	ck_assert_uint_eq(json_array_size(rows), 3);
	ck_assert_str_eq(json_string_value(at(json_array_get(rows, 2), "inode")),
			 "18446744073709551615");
	ck_assert_int_eq(integer_at(json, "groups.left_out.rows"), 0);
	json_decref(json);
	sample_close(&run);
}

TEST(test_cut_recording_has_null_counts)
{
	struct sample_run run;
	struct report *report = &run.report;
	json_t *json;

	sample_open(&run, 150000);
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
	json = print_and_parse(report, 1);
	check_schema(json);
	ck_assert_str_eq(json_string_value(at(json, "damage")), "it was cut");
	ck_assert_str_eq(json_string_value(at(json, "environment.command")), "cat /etc/passwd");
	ck_assert_str_eq(json_string_value(at(json, "environment.started")),
			 "2023-11-14T22:13:20Z");
	check_null(json, "calls");
	check_null(json, "lost");
	check_null(json, "elapsed_ns");
	check_null(json, "pages_touched");
	check_null(json, "syscalls");
	check_null(json, "events_lost");
	check_null(json, "rusage.minflt");
	check_null(json, "rusage.stime_us");
	check_null(json, "environment.accesses");
	check_null(json, "environment.seed");
	ck_assert(json_is_true(at(json, "parts.known")));
	json_decref(json);
	sample_close(&run);
}

TEST(test_several_runs_have_mean_and_deviation)
{
	struct sample_run runs[2];
	struct report reports[2];
	json_t *json;

	sample_open(&runs[0], 100000);
	sample_open(&runs[1], 200000);
	runs[1].report.time.elapsed_ns = 1234567890 + 1000;
	sample_without_bpf(&runs[1].report);
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	json = print_and_parse(reports, 2);
	ck_assert_uint_eq(json_array_size(at(json, "runs")), 2);
	check_real(json, "mean.elapsed_ns", 1234567890 + 500);
	check_real(json, "stddev.elapsed_ns", 1000 / sqrt(2));
	check_real(json, "mean.classes.disk.mean_ns", 150000);
	check_real(json, "stddev.classes.disk.mean_ns", 100000 / sqrt(2));
	check_real(json, "mean.study.disk.count", 6198);
	check_real(json, "stddev.study.disk.count", 0);
	check_real(json, "mean.rusage.nvcsw", 6150);
	/* Only one run has this value. */
	check_null(json, "mean.classes.disk.off_cpu_ns");
	check_null(json, "stddev.classes.disk.off_cpu_ns");
	/* Neither run has a fault in this class. */
	check_null(json, "mean.classes.error.mean_ns");
	json_decref(json);
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

TEST(test_the_longest_fault_has_its_place_and_its_wait)
{
	char file[] = "/mnt/disk/log", none[] = "", code[] = "f+0x1 (/bin/p)";
	char functions[] = "jbd2_log_wait_commit<ext4_page_mkwrite";
	struct sample_run run;
	json_t *json;

	sample_open(&run, 150000);
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
	json = print_and_parse(&run.report, 1);
	memset(&run.report.longest, 0, sizeof(run.report.longest));
	check_schema(json);
	ck_assert_int_eq(integer_at(json, "failed_faults"), 3);
	ck_assert_int_eq(integer_at(json, "tail.count"), 12);
	ck_assert_int_eq(integer_at(json, "tail.longest.duration_ns"), 21000000);
	ck_assert_int_eq(integer_at(json, "tail.longest.page"), 3);
	ck_assert_str_eq(json_string_value(at(json, "tail.longest.file")), file);
	check_null(json, "tail.longest.mapping");
	check_null(json, "tail.longest.ip");
	ck_assert_str_eq(json_string_value(at(json, "tail.longest.part.name")), "blocked");
	ck_assert_str_eq(json_string_value(at(json, "tail.longest.wait.cause")), "a journal");
	ck_assert_uint_eq(json_array_size(at(json, "tail.longest.wait.functions")), 2);
	json_decref(json);
	sample_close(&run);
}
