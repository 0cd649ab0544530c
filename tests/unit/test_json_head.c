// SPDX-License-Identifier: GPL-2.0-only
/* The head of a recording survives a round trip, and impossible values are refused. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/print/json/json_environment.h"

static void sample_record(struct report *report)
{
	report_init(report);
	report->environment = (struct environment){
		.kind = "record",
		.version = "0.1",
		.started_s = 1700000000,
		.command = "sh -c \"cat x\"",
		.pid = 4711,
		.cgroup = "/a/b",
		.host = "made",
		.only_file = "/mnt/disk/\"data\"",
		.kernel = "6.12.0",
		.architecture = "aarch64",
		.machine = "a CPU",
		.cpus = 4,
		.memory_bytes = 1ULL << 40,
		.page_bytes = 16384,
		.clocksource = "arch_sys_counter",
		.counter_hz = 62500000,
		.virtualization = "kvm",
		.readahead_bytes = -1,
		.resident_pages = COUNT_NA,
		.pinned_cpu = -1,
		.fault_around = true,
		.exact = true,
		.fault_around_bytes = 65536,
		.ring_bytes = 4 << 20,
	};
	report->bpf.known = true;
	report->bpf.hooks = 1U << HOOK_WAKEUP | 1U << HOOK_PAGE_DELETE;
}

static void sample_drive(struct report *report)
{
	report_init(report);
	report->environment = (struct environment){
		.kind = "drive",
		.version = "9.9",
		.page_bytes = 4096,
		.file = "/f",
		.file_bytes = 8192,
		.file_pages = 2,
		.filesystem = "ext4",
		.device = "sda",
		.readahead_bytes = 0,
		.cache = "warm",
		.resident_pages = 2,
		.pattern = "random",
		.accesses = 3,
		.seed = UINT64_MAX,
		.pinned_cpu = 0,
	};
	strcpy(report->bpf.missing, "--no-bpf was given");
	report->drive.pages_touched = 0;
}

static void check_same(const struct report *report)
{
	json_t *json = json_head(report);
	struct report copy;

	ck_assert_ptr_nonnull(json);
	report_init(&copy);
	ck_assert_int_eq(json_head_parse(&copy, json), 0);
	ck_assert_mem_eq(&copy.environment, &report->environment, sizeof(copy.environment));
	ck_assert_int_eq(copy.bpf.known, report->bpf.known);
	ck_assert_str_eq(copy.bpf.missing, report->bpf.missing);
	ck_assert_uint_eq(copy.bpf.hooks, report->bpf.hooks);
	ck_assert_uint_eq(copy.drive.pages_touched, report->drive.pages_touched);
	json_decref(json);
}

TEST(test_head_of_a_record_survives_a_round_trip)
{
	struct report report;

	sample_record(&report);
	check_same(&report);
}

TEST(test_head_of_a_drive_survives_a_round_trip)
{
	struct report report;

	sample_drive(&report);
	check_same(&report);
}

/* Anonymous memory has no page cache, which differs from 0 cached pages. */
TEST(test_unknown_resident_pages_differ_from_zero)
{
	struct report report;

	sample_drive(&report);
	report.environment.resident_pages = COUNT_NA;
	check_same(&report);
	report.environment.resident_pages = 0;
	check_same(&report);
}

TEST(test_malformed_head_is_refused)
{
	static const char *const texts[] = {
		"[]",
		"{}",
		"{\"environment\": null}",
		"{\"environment\": {}}",
		"{\"environment\": {\"kind\": \"movie\"}}",
		"{\"environment\": {\"kind\": 1}}",
	};
	struct report report;
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		report_init(&report);
		json = json_loads(texts[i], 0, NULL);
		ck_assert_int_eq(json_head_parse(&report, json), -EINVAL);
		json_decref(json);
	}
	ck_assert_int_eq(json_head_parse(&report, NULL), -EINVAL);
}

static void take(struct report *report, const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	ck_assert_msg(json, "%s", error.text);
	report_init(report);
	ck_assert_int_eq(json_head_parse(report, json), 0);
	json_decref(json);
}

TEST(test_missing_members_are_unknown)
{
	struct report report;

	take(&report, "{\"environment\": {\"kind\": \"record\"}}");
	ck_assert_int_eq(report.environment.pinned_cpu, -1);
	ck_assert_int_eq(report.environment.readahead_bytes, -1);
	ck_assert_int_eq(report.environment.started_s, 0);
	ck_assert_uint_eq(report.environment.resident_pages, COUNT_NA);
	ck_assert(report.environment.fault_around);
	ck_assert_uint_eq(report.drive.pages_touched, COUNT_NA);
	ck_assert(!report.bpf.known);
	ck_assert_uint_eq(report.bpf.hooks, 0);
}

TEST(test_impossible_values_are_read_as_unknown)
{
	char text[20480] = "", name[8192];
	struct report report;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text),
		 "{\"environment\": {\"kind\": \"record\", \"cpus\": -3, "
		 "\"pid\": 4294967296, \"pinned_cpu\": 2147483648, \"memory_bytes\": -1, "
		 "\"seed\": \"junk\", \"kernel\": 7, \"machine\": [], \"started\": \"soon\", "
		 "\"only_file\": \"%s\", \"readahead_bytes\": \"1\", \"resident_pages\": -2}, "
		 "\"have_bpf\": 1, \"hooks\": [\"wakeup\", \"nonesuch\", 5, null], "
		 "\"pages_touched\": -1}",
		 name);
	take(&report, text);
	ck_assert_uint_eq(report.environment.cpus, 0);
	ck_assert_uint_eq(report.environment.pid, 0);
	ck_assert_int_eq(report.environment.pinned_cpu, -1);
	ck_assert_uint_eq(report.environment.memory_bytes, 0);
	ck_assert_uint_eq(report.environment.page_bytes, 4096);
	ck_assert_uint_eq(report.environment.seed, 0);
	ck_assert_str_eq(report.environment.kernel, "");
	ck_assert_str_eq(report.environment.machine, "");
	ck_assert_str_eq(report.environment.only_file, "");
	ck_assert_int_eq(report.environment.started_s, 0);
	ck_assert_int_eq(report.environment.readahead_bytes, -1);
	ck_assert(!report.bpf.known);
	ck_assert_uint_eq(report.bpf.hooks, 1U << HOOK_WAKEUP);
	ck_assert_uint_eq(report.drive.pages_touched, COUNT_NA);
}
