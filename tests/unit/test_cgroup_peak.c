// SPDX-License-Identifier: GPL-2.0-only
/* The limit and the peak of a cgroup, from folders with the same files, and the line about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/model/counters.h"
#include "user/print/text/table.h"
#include "user/report/report.h"
#include "user/system/cgroups.h"

#define MIB (1ULL << 20)

static char parent[64], child[80];
static uint64_t limit;

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void groups_begin(void)
{
	strcpy(parent, "/tmp/peak-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(parent));
	snprintf(child, sizeof(child), "%s/child", parent);
	ck_assert_int_eq(mkdir(child, 0700), 0);
	write_file(parent, "memory.max", "67108864\n");
	write_file(parent, "memory.peak", "38797312\n");
	write_file(child, "memory.max", "max\n");
	write_file(child, "memory.peak", "1048576\n");
}

static void groups_end(void)
{
	remove_file(child, "memory.max");
	remove_file(child, "memory.peak");
	remove_file(parent, "memory.max");
	remove_file(parent, "memory.peak");
	rmdir(child);
	rmdir(parent);
}

TEST(test_cgroup_without_a_limit_has_that_of_its_parent)
{
	ck_assert_uint_eq(memory_cgroup_peak(child, &limit), 38797312);
	ck_assert_uint_eq(limit, 64 * MIB);
	write_file(child, "memory.max", "2097152\n");
	ck_assert_uint_eq(memory_cgroup_peak(child, &limit), MIB);
	ck_assert_uint_eq(limit, 2 * MIB);
}

TEST(test_old_kernel_has_a_limit_without_a_peak)
{
	remove_file(parent, "memory.peak");
	ck_assert_uint_eq(memory_cgroup_peak(parent, &limit), UINT64_MAX);
	ck_assert_uint_eq(limit, 64 * MIB);
}

TEST(test_folders_without_a_limit_have_no_peak)
{
	remove_file(parent, "memory.max");
	ck_assert_uint_eq(memory_cgroup_peak(child, &limit), UINT64_MAX);
	ck_assert_uint_eq(limit, UINT64_MAX);
	ck_assert_uint_eq(memory_cgroup_peak("/nowhere", &limit), UINT64_MAX);
	ck_assert_uint_eq(limit, UINT64_MAX);
}

static void head_has(uint64_t of, uint64_t peak, const char *text, bool has)
{
	size_t size = 0;
	char *printed = NULL;
	FILE *out = open_memstream(&printed, &size);
	struct report report;

	report_init(&report);
	strcpy(report.environment.kind, "record");
	strcpy(report.environment.cgroup, "/sys/fs/cgroup/a");
	report.memory.limit = of;
	report.memory.peak = peak;
	ck_assert_int_eq(table_environment(out, &report), 0);
	fclose(out);
	ck_assert_msg(!!strstr(printed, text) == has, "'%s' in: %s", text, printed);
	free(printed);
}

/* The size is rounded up, so that the limit that is named holds all. */
TEST(test_report_names_a_smaller_limit_only_if_memory_was_left)
{
	head_has(64 * MIB, 37 * MIB + 1,
		 "64.0 MiB; at most 37.1 MiB were used, so 37.1 MiB would have done\n", true);
	head_has(64 * MIB, 64 * MIB, "64.0 MiB, and all of it was used\n", true);
	head_has(64 * MIB, 64 * MIB - 4096, "64.0 MiB, and all of it was used\n", true);
	head_has(64 * MIB, COUNT_NA, "Memory limit", false);
	head_has(COUNT_NA, COUNT_NA, "Memory limit", false);
}

FIXTURE(groups_begin, groups_end);
