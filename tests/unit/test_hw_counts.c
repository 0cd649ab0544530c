// SPDX-License-Identifier: GPL-2.0-only
/* Hardware counters: decoding and scaling groups, messages for missing counters, the L1D size. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/analyze/accounts/hw_counts.h"
#include "user/collect/perf_counters.h"
#include "user/system/cpus.h"
#include "util/why.h"

TEST(test_counts_are_scaled_to_the_enabled_time)
{
	ck_assert_uint_eq(hw_count_scale(1000, 200, 100), 2000);
	ck_assert_uint_eq(hw_count_scale(1000, 100, 100), 1000);
	ck_assert_uint_eq(hw_count_scale(0, 100, 1), 0);
	ck_assert_uint_eq(hw_count_scale(1, 3, 2), 2); /* 1.5, rounded */
	/* The product exceeds 64 bits. */
	ck_assert_uint_eq(hw_count_scale(1ULL << 62, 1ULL << 40, 1ULL << 40), 1ULL << 62);
}

TEST(test_a_group_gives_each_member_its_value)
{
	const uint64_t words[] = { 2, 1000, 250, 400, 10 };
	struct hw_counts counts = { 0 };
	struct hw_count *read = counts.counts[HW_L1D][HW_READ];
	struct hw_count *members[] = { &read[HW_ACCESS], &read[HW_MISS] };

	ck_assert_int_eq(hw_counts_take(words, 5, members, 2), 0);
	ck_assert_uint_eq(read[HW_ACCESS].raw, 400);
	ck_assert_uint_eq(read[HW_ACCESS].value, 1600);
	ck_assert_uint_eq(read[HW_MISS].value, 40);
	ck_assert_double_eq_tol(hw_counts_miss_rate(&counts, HW_L1D, HW_READ), 0.025, 0.000000001);
	ck_assert_double_eq_tol(hw_count_share(&read[HW_MISS]), 0.25, 0.000000001);
}

TEST(test_a_group_that_never_ran_is_missing_and_not_0)
{
	const uint64_t words[] = { 1, 1000, 0, 0 };
	struct hw_counts counts = { 0 };
	struct hw_count *members[] = { &counts.counts[HW_DTLB][HW_WRITE][HW_MISS] };

	ck_assert_int_eq(hw_counts_take(words, 4, members, 1), 0);
	ck_assert_str_ne(members[0]->missing, "");
	ck_assert(isnan(hw_count_share(members[0])));
	ck_assert(isnan(hw_counts_miss_rate(&counts, HW_DTLB, HW_WRITE)));
}

TEST(test_malformed_group_is_refused)
{
	const uint64_t short_one[] = { 2, 1000, 250, 400 };
	const uint64_t other_size[] = { 1, 1000, 250, 400, 10 };
	const uint64_t longer_than_enabled[] = { 2, 1000, 1001, 400, 10 };
	struct hw_count a = { 0 }, b = { 0 };
	struct hw_count *members[] = { &a, &b };

	ck_assert_int_eq(hw_counts_take(short_one, 4, members, 2), -EPROTO);
	ck_assert_int_eq(hw_counts_take(other_size, 5, members, 2), -EPROTO);
	ck_assert_int_eq(hw_counts_take(longer_than_enabled, 5, members, 2), -EPROTO);
	ck_assert_uint_eq(a.raw + b.raw, 0);
}

TEST(test_a_rate_needs_misses_and_accesses)
{
	struct hw_counts counts = { 0 };
	struct hw_count *read = counts.counts[HW_L1D][HW_READ];

	read[HW_MISS].value = 5;
	ck_assert(isnan(hw_counts_miss_rate(&counts, HW_L1D, HW_READ))); /* without an access */
	read[HW_ACCESS].value = 10;
	ck_assert_double_eq(hw_counts_miss_rate(&counts, HW_L1D, HW_READ), 0.5);
	strcpy(read[HW_MISS].missing, "no");
	ck_assert(isnan(hw_counts_miss_rate(&counts, HW_L1D, HW_READ)));
}

TEST(test_common_reason_is_reported_once)
{
	struct hw_counts counts = { 0 };
	struct hw_count *all = &counts.counts[0][0][0];
	const size_t nr = sizeof(counts.counts) / sizeof(*all);
	size_t i;

	ck_assert_ptr_null(hw_counts_all_missing(&counts));
	for (i = 0; i < nr; i++)
		strcpy(all[i].missing, "no PMU");
	ck_assert_str_eq(hw_counts_all_missing(&counts), "no PMU");
	strcpy(all[nr - 1].missing, "another");
	ck_assert_ptr_null(hw_counts_all_missing(&counts));
	all[nr - 1].missing[0] = '\0';
	ck_assert_ptr_null(hw_counts_all_missing(&counts));
}

TEST(test_open_errors_have_an_explanation)
{
	struct why why;

	perf_hardware_explain(-EACCES, &why);
	ck_assert_ptr_nonnull(strstr(why.text, "perf_event_paranoid is "));
	perf_hardware_explain(-ENOENT, &why);
	ck_assert_ptr_nonnull(strstr(why.text, "ENOENT"));
	perf_hardware_explain(-EMFILE, &why);
	ck_assert_ptr_nonnull(strstr(why.text, strerror(EMFILE)));
}

/* As perf_event_open(2) spells them: cache | operation << 8 | result << 16. */
TEST(test_event_numbers_match_the_manual)
{
	static const struct {
		enum hw_cache cache;
		enum hw_op op;
		enum hw_result result;
		uint64_t config;
	} events[] = {
		{ HW_L1D, HW_READ, HW_ACCESS, 0x00000 },   { HW_L1D, HW_READ, HW_MISS, 0x10000 },
		{ HW_L1D, HW_PREFETCH, HW_MISS, 0x10200 }, { HW_DTLB, HW_READ, HW_ACCESS, 0x00003 },
		{ HW_DTLB, HW_WRITE, HW_MISS, 0x10103 },
	};
	struct perf_event_attr attr;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		attr = (struct perf_event_attr){ 0 };
		perf_hardware_choose_cache(&attr, events[i].cache, events[i].op, events[i].result);
		ck_assert_uint_eq(attr.type, PERF_TYPE_HW_CACHE);
		ck_assert_uint_eq(attr.config, events[i].config);
	}
}

/*
 * Events available in every kernel, through all the code to open, start, stop and read groups: page
 * faults as accesses, major faults as misses, and one event no kernel has.
 */
static void choose_software(struct perf_event_attr *attr, enum hw_cache cache, enum hw_op op,
			    enum hw_result result)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = result == HW_ACCESS ? PERF_COUNT_SW_PAGE_FAULTS :
					     PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	if (cache == HW_DTLB && op == HW_PREFETCH)
		attr->config = 1 << 20;
}

TEST(test_groups_count_only_between_begin_and_end)
{
	const size_t page = sysconf(_SC_PAGESIZE), nr = 64;
	struct hw_counts counts = { 0 };
	struct hw_count *read = counts.counts[HW_L1D][HW_READ];
	struct perf_hardware *hardware;
	volatile char *memory = aligned_alloc(page, 3 * nr * page);
	size_t i;

	ck_assert(memory);
	ck_assert_int_eq(perf_hardware_open(&hardware, &counts, choose_software), 0);
	for (i = 0; i < nr; i++)
		memory[i * page] = 1;
	perf_hardware_begin(hardware);
	for (i = nr; i < 2 * nr; i++)
		memory[i * page] = 1;
	perf_hardware_end(hardware);
	for (i = 2 * nr; i < 3 * nr; i++)
		memory[i * page] = 1;
	ck_assert_int_eq(perf_hardware_read(hardware), 0);
	ck_assert_str_ne(counts.counts[HW_DTLB][HW_PREFETCH][HW_ACCESS].missing, "");
	if (read[HW_ACCESS].missing[0]) { /* the kernel forbids it to this user */
		ck_assert_ptr_nonnull(strstr(read[HW_ACCESS].missing, "perf_event_paranoid"));
	} else {
		/* One fault if the kernel gives a huge page, otherwise one fault for each page. */
		ck_assert_uint_ge(read[HW_ACCESS].value, 1);
		ck_assert_uint_le(read[HW_ACCESS].value, nr + 8);
		ck_assert_uint_eq(read[HW_MISS].value, 0);
		ck_assert_uint_gt(read[HW_ACCESS].running_ns, 0);
	}
	perf_hardware_close(hardware);
	free((void *)memory);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_index(const char *folder, int index, const char *type, const char *size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/index%d", folder, index);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	write_file(path, "level", index < 2 ? "1\n" : "2\n");
	write_file(path, "type", type);
	write_file(path, "size", size);
}

TEST(test_size_of_l1d_is_that_of_the_level_1_data_cache)
{
	char folder[] = "/tmp/pfstat-cache.XXXXXX", command[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_uint_eq(cpu_cache_l1d_bytes(0, folder), 0);
	make_index(folder, 0, "Instruction\n", "64K\n");
	make_index(folder, 2, "Data\n", "256K\n");
	ck_assert_uint_eq(cpu_cache_l1d_bytes(0, folder), 0);
	make_index(folder, 1, "Data\n", "48K\n");
	ck_assert_uint_eq(cpu_cache_l1d_bytes(0, folder), 48 * 1024);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

TEST(test_walk_covers_twice_the_cache_and_needs_its_size)
{
	struct cpu_cache_walk walk;

	ck_assert_int_eq(cpu_cache_walk_open(&walk, 32768), 0);
	ck_assert_uint_eq(walk.bytes, 65536);
	cpu_cache_walk(&walk);
	cpu_cache_walk_close(&walk);
	ck_assert_int_eq(cpu_cache_walk_open(&walk, 0), 0);
	ck_assert_uint_eq(walk.bytes, 0);
	cpu_cache_walk(&walk);
	cpu_cache_walk_close(&walk);
}
