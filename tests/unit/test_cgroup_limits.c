// SPDX-License-Identifier: GPL-2.0-only
/* The limits of a cgroup and its parents, and the report's lines. Plain folders replace cgroups. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/model/counters.h"
#include "user/print/text/table.h"
#include "user/recording/counters_json.h"
#include "user/report/report.h"
#include "user/system/cgroups.h"

#define MS  1000000ULL
#define MIB (1ULL << 20)

static const char *const files[] = {
	"cgroup.events",       "cpu.max",      "cpu.stat",	 "memory.high",
	"memory.events.local", "cpu.pressure", "memory.pressure"
};

static char parent[64], child[80];
static struct cgroup_levels before, after;
static struct cgroup_limits limits;

static void put(const char *folder, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(const char *folder, const char *name, const char *format, ...)
{
	va_list arguments;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
}

static void put_group(const char *folder)
{
	put(folder, "cgroup.events", "populated 1\nfrozen 0\n");
	put(folder, "cpu.max", "max 100000\n");
	put(folder, "cpu.stat", "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	put(folder, "memory.high", "max\n");
	put(folder, "memory.events.local", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
	put(folder, "cpu.pressure",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
	put(folder, "memory.pressure",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}

static void put_throttled(const char *folder, unsigned int periods, unsigned int throttled,
			  unsigned int us)
{
	put(folder, "cpu.max", "20000 100000\n");
	put(folder, "cpu.stat",
	    "usage_usec 9\nuser_usec 9\nnr_periods %u\nnr_throttled %u\nthrottled_usec %u\n"
	    "nr_bursts 0\n",
	    periods, throttled, us);
}

static void limits_begin(void)
{
	char made[] = "/tmp/limits-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(made));
	ck_assert_ptr_nonnull(realpath(made, parent));
	snprintf(child, sizeof(child), "%s/child", parent);
	ck_assert_int_eq(mkdir(child, 0700), 0);
	put_group(parent);
	put_group(child);
}

static void limits_end(void)
{
	const char *const folders[] = { child, parent };
	char path[128];
	size_t i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < sizeof(files) / sizeof(files[0]); j++) {
			snprintf(path, sizeof(path), "%s/%s", folders[i], files[j]);
			unlink(path);
		}
		rmdir(folders[i]);
	}
}

static void forget(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ck_assert_int_eq(unlink(path), 0);
}

/* Reads the counters again, and takes the difference. */
static void look_again(void)
{
	cgroup_levels_read(&after, child);
	cgroup_limits_between(&before, &after, &limits);
}

static void check_throttled(const char *path, uint64_t throttled)
{
	look_again();
	ck_assert_str_eq(limits.cpu.path, path);
	ck_assert_uint_eq(limits.cpu.throttled, throttled);
}

TEST(test_cgroup_without_limits_has_only_pressure)
{
	cgroup_levels_read(&before, child);
	ck_assert_uint_eq(before.nr, 2);
	put(child, "cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\n");
	look_again();
	ck_assert_str_eq(limits.path, child);
	ck_assert_str_eq(limits.cpu.path, "");
	ck_assert_str_eq(limits.memory.path, "");
	ck_assert_uint_eq(limits.pressure.cpu_some_ns, 3000);
	ck_assert_uint_eq(limits.pressure.cpu_full_ns, COUNT_NA);
	ck_assert_uint_eq(limits.pressure.memory_full_ns, 0);
}

TEST(test_nearest_used_up_quota_is_named)
{
	put_throttled(parent, 5, 1, 1000);
	put_throttled(child, 50, 10, 20000);
	cgroup_levels_read(&before, child);
	put_throttled(parent, 45, 32, 301000);
	put_throttled(child, 90, 10, 20000);
	/* The child's quota was not used up meanwhile. */
	check_throttled(parent, 31);
	ck_assert_uint_eq(limits.cpu.quota_ns, 20 * MS);
	ck_assert_uint_eq(limits.cpu.period_ns, 100 * MS);
	ck_assert_uint_eq(limits.cpu.periods, 40);
	ck_assert_uint_eq(limits.cpu.throttled_ns, 300 * MS);
	put_throttled(child, 90, 11, 20001);
	check_throttled(child, 1);
}

TEST(test_quota_that_was_not_used_up_has_zero_periods_throttled)
{
	put_throttled(parent, 5, 1, 1000);
	cgroup_levels_read(&before, child);
	check_throttled(parent, 0);
}

TEST(test_changed_quota_is_unknown)
{
	put_throttled(child, 5, 1, 1000);
	cgroup_levels_read(&before, child);
	put_throttled(child, 6, 2, 2000);
	put(child, "cpu.max", "30000 100000\n");
	check_throttled(child, 1);
	ck_assert_uint_eq(limits.cpu.quota_ns, COUNT_NA);
}

TEST(test_memory_events_are_those_of_the_nearest_cgroup_with_any)
{
	put(parent, "memory.high", "%llu\n", 12 * MIB);
	cgroup_levels_read(&before, child);
	put(parent, "memory.events.local", "low 0\nhigh 7\nmax 2\noom 0\noom_kill 0\n");
	look_again();
	ck_assert_str_eq(limits.memory.path, parent);
	ck_assert_uint_eq(limits.memory.high_bytes, 12 * MIB);
	ck_assert_uint_eq(limits.memory.high, 7);
	ck_assert_uint_eq(limits.memory.max, 2);
	ck_assert_uint_eq(limits.memory.oom_kill, 0);
}

TEST(test_missing_files_leave_counts_unknown)
{
	size_t i;

	for (i = 1; i < sizeof(files) / sizeof(files[0]); i++)
		forget(child, files[i]);
	put_throttled(parent, 5, 1, 1000);
	cgroup_levels_read(&before, child);
	look_again();
	ck_assert_str_eq(limits.cpu.path, parent);
	ck_assert_uint_eq(limits.pressure.cpu_full_ns, COUNT_NA);
	ck_assert_uint_eq(limits.pressure.memory_some_ns, COUNT_NA);
	/* The root has no such file. */
	forget(parent, "cgroup.events");
	cgroup_levels_read(&before, child);
	ck_assert_uint_eq(before.nr, 1);
	cgroup_levels_read(&before, parent);
	ck_assert_uint_eq(before.nr, 0);
	look_again();
	ck_assert_str_eq(limits.path, "");
	cgroup_levels_read(&before, "/nowhere");
	ck_assert_str_eq(before.path, "");
}

TEST(test_cgroup_that_was_made_anew_has_no_differences)
{
	put_throttled(child, 5, 1, 1000);
	put_throttled(parent, 5, 1, 1000);
	cgroup_levels_read(&before, child);
	put_throttled(child, 6, 2, 2000);
	put_throttled(parent, 8, 3, 2000);
	cgroup_levels_read(&after, child);
	after.levels[0].inode++;
	cgroup_limits_between(&before, &after, &limits);
	ck_assert_str_eq(limits.cpu.path, parent);
	ck_assert_uint_eq(limits.pressure.cpu_some_ns, COUNT_NA);
}

static void fill_limits(struct cgroup_limits *filled)
{
	cgroup_limits_init(filled);
	strcpy(filled->path, "/sys/fs/cgroup/a/b");
	strcpy(filled->cpu.path, "/sys/fs/cgroup/a");
	filled->cpu.quota_ns = 20 * MS;
	filled->cpu.period_ns = 100 * MS;
	filled->cpu.periods = 40;
	filled->cpu.throttled = 31;
	filled->cpu.throttled_ns = 2100 * MS;
	strcpy(filled->memory.path, "/sys/fs/cgroup/a/b");
	filled->memory.high_bytes = 12 * MIB;
	filled->memory.high = 1234;
	filled->memory.max = 0;
	filled->memory.oom_kill = 0;
	filled->pressure.memory_full_ns = 1200 * MS;
	filled->pressure.cpu_full_ns = 1900 * MS;
}

TEST(test_cgroup_limits_survive_a_round_trip)
{
	struct cgroup_limits copy;
	json_t *json;

	fill_limits(&limits);
	json = cgroup_json(&limits);
	ck_assert_int_eq(cgroup_json_parse(&copy, json), 0);
	ck_assert_mem_eq(&copy, &limits, sizeof(limits));
	json_decref(json);
	cgroup_limits_init(&limits);
	json = cgroup_json(&limits);
	ck_assert(json_is_null(json));
	ck_assert_int_eq(cgroup_json_parse(&copy, json), 0);
	ck_assert_mem_eq(&copy, &limits, sizeof(limits));
	ck_assert_int_eq(cgroup_json_parse(&copy, NULL), 0);
	ck_assert_mem_eq(&copy, &limits, sizeof(limits));
	json_decref(json);
}

TEST(test_malformed_cgroup_limits_are_refused)
{
	static const char *const texts[] = {
		"[]",
		"7",
		"{}",
		"{\"path\": \"\"}",
		"{\"path\": 3}",
		"{\"path\": \"/a\", \"cpu\": []}",
		"{\"path\": \"/a\", \"cpu\": {}}",
		"{\"path\": \"/a\", \"cpu\": {\"path\": \"/a\", \"periods\": -1}}",
		"{\"path\": \"/a\", \"memory\": {\"path\": \"/a\", \"high\": \"1\"}}",
		"{\"path\": \"/a\", \"pressure\": {\"cpu_full_ns\": 1.5}}",
	};
	struct cgroup_limits none;
	json_t *json;
	size_t i;

	cgroup_limits_init(&none);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		ck_assert_ptr_nonnull(json);
		ck_assert_msg(cgroup_json_parse(&limits, json), "%s", texts[i]);
		ck_assert_mem_eq(&limits, &none, sizeof(none));
		json_decref(json);
	}
}

/* Spaces and line ends are one space. */
static void check_head(const struct report *report, const char *text, bool has)
{
	char *printed = NULL, *from, *to;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	ck_assert_int_eq(table_environment(out, report), 0);
	fclose(out);
	for (from = to = printed; *from; from++)
		if (!strchr(" \n", *from) || !strchr(" \n", from[1]) || !from[1])
			*to++ = *from == '\n' ? ' ' : *from;
	*to = '\0';
	ck_assert_msg(!!strstr(printed, text) == has, "'%s' in: %s", text, printed);
	free(printed);
}

static void report_begin(struct report *report)
{
	report_init(report);
	strcpy(report->environment.kind, "record");
	report->time.elapsed_ns = 4000 * MS;
}

TEST(test_report_states_what_the_limits_did)
{
	struct report report;

	report_begin(&report);
	fill_limits(&report.cgroup);
	check_head(&report,
		   " CPU limit cpu.max of /sys/fs/cgroup/a (20 ms of 100 ms): used up in 31 of 40 "
		   "periods, and the cgroup was held back for 2.100 s, summed over CPUs ",
		   true);
	check_head(
		&report,
		" Memory events of /sys/fs/cgroup/a/b, memory.high (12 MiB) exceeded 1234 times ",
		true);
	check_head(&report,
		   " Stood still all threads of the cgroup /sys/fs/cgroup/a/b that had work waited "
		   "at once for memory for 1.200 s (memory.pressure, full), for a CPU for 1.900 s "
		   "(cpu.pressure, full) ",
		   true);
	report.cgroup.cpu.quota_ns = COUNT_NA;
	check_head(&report, "/a (changed meanwhile): used up", true);
	report.cgroup.pressure.cpu_full_ns = 39 * MS;
	check_head(&report, "cpu.pressure", false);
	report.cgroup.pressure.cpu_full_ns = 40 * MS;
	check_head(&report, "for a CPU for 0.040 s (cpu.pressure, full)", true);
}

TEST(test_report_without_limits_states_nothing_about_them)
{
	struct report report;
	const char *const names[] = { "CPU limit", "Memory events", "Stood still" };
	size_t i;

	report_begin(&report);
	for (i = 0; i < 3; i++)
		check_head(&report, names[i], false);
	strcpy(report.cgroup.path, "/sys/fs/cgroup/a");
	report.cgroup.pressure = (struct cgroup_pressure){ 0 };
	strcpy(report.cgroup.cpu.path, "/sys/fs/cgroup/a");
	report.cgroup.cpu.throttled = 0;
	report.cgroup.cpu.periods = 40;
	for (i = 0; i < 3; i++)
		check_head(&report, names[i], false);
}

FIXTURE(limits_begin, limits_end);
