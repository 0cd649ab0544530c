// SPDX-License-Identifier: GPL-2.0-only
/* A run's counters as OpenMetrics text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "apps/live/live.h"

static struct report report;
static char *text;
static size_t nr_rows;
static uint64_t watched_ns;

static void make_report(void)
{
	report_init(&report);
	nr_rows = 1;
	watched_ns = 10000000000;
	report.bpf.known = true;
	report.bpf.hooks = (1U << HOOK_PERF) - 1;
	report.faults.parts_known = true;
	report.faults.classes[FAULT_DISK] = (struct fault_figures){
		.count = 3,
		.major = 2,
		.whole.total_ns = 1234567890123456789,
	};
	report.faults.all.count = 3;
	report.faults.all.whole.total_ns = 1234567890123456789;
	report.faults.all.parts[PART_DEVICE].total_ns = 5;
	report.evidence.busy_ns = 2000000000;
}

static void print(const char *value)
{
	const struct openmetrics_row rows[] = { { value, &report }, { "second", &report } };
	const struct openmetrics metrics = {
		.label = "cgroup",
		.value = value,
		.rows = rows,
		.nr_rows = nr_rows,
		.watched_ns = watched_ns,
		.lost_records = 7,
		.lost_events = COUNT_NA,
		.own_cpu_ns = 1500000000,
		.own_peak_bytes = 4096,
	};
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(openmetrics_print(out, &metrics), 0);
	fclose(out);
}

static void exit_report(void)
{
	free(text);
	text = NULL;
	report_exit(&report);
}

static void check_line(const char *line)
{
	ck_assert_msg(strstr(text, line), "no %s in %s", line, text);
}

TEST(test_counters_have_their_labels_and_exact_seconds)
{
	print("/system.slice/a.service");
	check_line("# TYPE pfstat_faults counter\n# HELP pfstat_faults Page faults by class.\n");
	check_line("\npfstat_faults_total{cgroup=\"/system.slice/a.service\",class=\"disk\"} 3\n");
	check_line(
		"\npfstat_major_faults_total{cgroup=\"/system.slice/a.service\",class=\"disk\"} 2\n");
	check_line("class=\"disk\"} 1234567890.123456789\n");
	check_line("part=\"device\"} 0.000000005\n");
	check_line("\npfstat_faults_total{cgroup=\"/system.slice/a.service\",class=\"wait\"} 0\n");
	check_line("\npfstat_exporter_cpu_seconds_total{cgroup=\"/system.slice/a.service\"} "
		   "1.500000000\n");
	check_line("\npfstat_exporter_peak_resident_bytes{cgroup=\"/system.slice/a.service\"} "
		   "4096\n");
	ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
}

TEST(test_a_value_that_is_not_known_has_no_sample)
{
	report.bpf.known = false;
	report.faults.parts_known = false;
	print("a");
	check_line("\npfstat_lost_records_total{cgroup=\"a\"} 7\n");
	ck_assert_ptr_null(strstr(text, "lost_events"));
	ck_assert_ptr_null(strstr(text, "part_seconds"));
	ck_assert_ptr_null(strstr(text, "class=\"anon\""));
	watched_ns = COUNT_NA;
	free(text);
	print("a");
	ck_assert_ptr_null(strstr(text, "stalled_seconds"));
}

TEST(test_each_row_has_its_label_and_each_family_is_there_once)
{
	const char *family;

	nr_rows = 2;
	print("a");
	check_line("\npfstat_faults_total{cgroup=\"a\",class=\"disk\"} 3\n");
	check_line("\npfstat_faults_total{cgroup=\"second\",class=\"disk\"} 3\n");
	check_line("\npfstat_fault_part_seconds_total{cgroup=\"second\",part=\"device\"} "
		   "0.000000005\n");
	check_line("\npfstat_stalled_seconds_total{cgroup=\"second\"} 2.000000000\n");
	check_line("\npfstat_watched_seconds_total{cgroup=\"a\"} 10.000000000\n");
	ck_assert_ptr_null(strstr(text, "watched_seconds_total{cgroup=\"second"));
	ck_assert_ptr_null(strstr(text, "exporter_cpu_seconds_total{cgroup=\"second"));
	family = strstr(text, "# TYPE pfstat_faults counter");
	ck_assert_ptr_nonnull(family);
	ck_assert_ptr_null(strstr(family + 1, "# TYPE pfstat_faults counter"));
}

TEST(test_a_part_without_its_hook_has_no_sample)
{
	report.bpf.hooks &= ~(1U << HOOK_RECLAIM);
	print("a");
	ck_assert_ptr_null(strstr(text, "part=\"reclaim\""));
	check_line("part=\"device\"} 0.000000005\n");
}

TEST(test_a_class_that_perf_does_not_report_has_no_sample)
{
	strcpy(report.environment.source, "perf");
	report.bpf.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
	report.faults.classes[FAULT_AGAIN].count = 4;
	print("a");
	ck_assert_ptr_null(strstr(text, "class=\"disk\""));
	ck_assert_ptr_null(strstr(text, "class=\"swap\""));
	check_line("\npfstat_faults_total{cgroup=\"a\",class=\"again\"} 4\n");
}

TEST(test_names_are_escaped)
{
	print("a\"b\\c\nx\xff\xc3\xa4");
	check_line("\npfstat_lost_records_total{cgroup=\"a\\\"b\\\\c\\nx?\xc3\xa4\"} 7\n");
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	const struct openmetrics metrics = { .label = "pid", .value = "1" };
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(openmetrics_print(full, &metrics), -ENOSPC);
	fclose(full);
}

FIXTURE(make_report, exit_report);
