// SPDX-License-Identifier: GPL-2.0-only
/* Items from processes in several cgroups: which analysis gets them. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "apps/live/live.h"

#define PIDS 1000

/* The kernel's view. "" is a process no longer there. */
static char kernel[PIDS][32];
static struct cgroup_analyses cgroups;

static char *look_up(pid_t pid)
{
	return kernel[pid][0] ? strdup(kernel[pid]) : NULL;
}

static void begin(void)
{
	memset(kernel, 0, sizeof(kernel));
	cgroup_analyses_init(&cgroups, true, 4096, 0, look_up);
}

static void end(void)
{
	cgroup_analyses_exit(&cgroups);
}

static void add_event(const void *event)
{
	const struct item item = { .type = ITEM_EVENT, .event = event };

	ck_assert_int_eq(cgroup_analyses_add(&cgroups, &item), 0);
}

static void add_fault(uint32_t pid, uint64_t start_ns)
{
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_DISK,
		.pid = pid,
		.tid = pid,
		.inode = 77,
		.pgoff = start_ns / 1000,
		.address = 0x100000 + start_ns,
		.start_ns = start_ns,
		.duration_ns = 500,
		.fault_ns = 500,
		.result = PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_MAJOR,
	};
	const struct item item = { .type = ITEM_RECORD, .ns = start_ns + 500, .record = &record };

	ck_assert_int_eq(cgroup_analyses_add(&cgroups, &item), 0);
}

static void add_task(uint32_t flags, uint32_t pid, uint32_t tid, uint32_t parent_pid)
{
	const struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task), .flags = flags,
			.pid = pid, .tid = tid,
		},
		.parent_pid = parent_pid, .parent = parent_pid,
	};

	add_event(&task);
}

static const struct cgroup_analysis *find(const char *name)
{
	size_t i;

	for (i = 0; i < cgroups.nr; i++)
		if (!strcmp(cgroups.list[i].name, name))
			return &cgroups.list[i];
	return NULL;
}

static uint64_t faults_of(const char *name)
{
	const struct cgroup_analysis *cgroup = find(name);
	struct fault_figures figures;

	ck_assert_msg(cgroup, "no cgroup %s", name);
	analysis_all_faults(cgroup->analysis, &figures);
	return figures.count;
}

TEST(test_each_fault_counts_in_its_cgroup_only)
{
	strcpy(kernel[1], "/a");
	strcpy(kernel[2], "/b");
	strcpy(kernel[3], "/a");
	add_fault(1, 1000);
	add_fault(2, 2000);
	add_fault(3, 3000);
	ck_assert_uint_eq(cgroups.nr, 2);
	ck_assert_uint_eq(faults_of("/a"), 2);
	ck_assert_uint_eq(faults_of("/b"), 1);
}

/* The evictor is a process of the other cgroup. */
TEST(test_swapped_out_pages_count_in_the_cgroup_of_their_owner)
{
	const struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE,
			   .size = sizeof(page),
			   .flags = PFSTAT_PAGE_ANON | PFSTAT_PAGE_RECLAIMED,
			   .pid = 1,
			   .tid = 1 },
		.inode = 2,
		.pages = 3,
	};
	struct evictions_figures figures;

	strcpy(kernel[1], "/a");
	strcpy(kernel[2], "/b");
	add_fault(1, 1000);
	add_event(&page);
	analysis_evictions(find("/a")->analysis, &figures);
	ck_assert_uint_eq(figures.swaps.pages, 0);
	analysis_evictions(find("/b")->analysis, &figures);
	ck_assert_uint_eq(figures.swaps.pages, 3);
}

TEST(test_a_child_begins_in_the_cgroup_of_its_parent)
{
	strcpy(kernel[1], "/a");
	add_task(PFSTAT_TASK_FORK, 5, 5, 1); /* it ends before anyone looks it up */
	add_fault(5, 1000);
	ck_assert_uint_eq(faults_of("/a"), 1);
	add_task(PFSTAT_TASK_FORK, 1, 6, 1); /* a thread */
	ck_assert_uint_eq(find("/a")->processes, 2);
}

TEST(test_a_process_moves_at_exec_and_at_an_update)
{
	strcpy(kernel[1], "/a");
	add_fault(1, 1000);
	strcpy(kernel[1], "/b");
	add_fault(1, 2000);
	add_task(PFSTAT_TASK_EXEC, 1, 1, 1);
	add_fault(1, 3000);
	strcpy(kernel[1], "/c");
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	add_fault(1, 4000);
	ck_assert_uint_eq(faults_of("/a"), 2);
	ck_assert_uint_eq(faults_of("/b"), 1);
	ck_assert_uint_eq(faults_of("/c"), 1);
}

TEST(test_the_last_faults_of_a_process_that_is_gone_keep_their_cgroup)
{
	strcpy(kernel[1], "/a");
	add_fault(1, 1000);
	kernel[1][0] = '\0';
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	add_fault(1, 2000);
	ck_assert_uint_eq(faults_of("/a"), 2);
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	ck_assert_uint_eq(find("/a")->processes, 0);
	ck_assert_uint_eq(cgroups.processes.count, 0);
	add_fault(1, 3000);
	ck_assert_uint_eq(faults_of(CGROUP_UNKNOWN), 1);
}

TEST(test_a_number_that_is_reused_begins_anew)
{
	strcpy(kernel[1], "/a");
	strcpy(kernel[2], "/b");
	add_fault(2, 1000);
	add_task(PFSTAT_TASK_FORK, 2, 2, 1);
	add_fault(2, 2000);
	ck_assert_uint_eq(faults_of("/a"), 1);
	ck_assert_uint_eq(faults_of("/b"), 1);
	ck_assert_uint_eq(find("/b")->processes, 0);
}

TEST(test_a_fault_knows_the_request_of_another_cgroup)
{
	const struct pfstat_off_cpu sleep = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(sleep), .pid = 2, .tid = 2,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT, .ns = 1400,
		},
		.off_ns = 1100, .woken_ns = 1400, .state = 2,
	};
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .pid = 1, .tid = 1,
			.flags = PFSTAT_BLOCK_FILE, .ns = 1400,
		},
		.insert_ns = 1000, .issue_ns = 1000, .inode = 77, .pgoff = 1, .bytes = 4096,
		.file_bytes = 4096,
	};
	struct fault_figures figures;
	struct block_figures blocks;

	strcpy(kernel[1], "/a");
	strcpy(kernel[2], "/b");
	add_task(0, 2, 2, 0);
	add_event(&block);
	add_event(&sleep);
	add_fault(2, 1000);
	analysis_all_faults(find("/b")->analysis, &figures);
	ck_assert_uint_eq(figures.parts[PART_DEVICE].total_ns, 300);
	analysis_blocks(find("/b")->analysis, &blocks);
	ck_assert_uint_eq(blocks.reads, 0);
	analysis_blocks(find("/a")->analysis, &blocks);
	ck_assert_uint_eq(blocks.reads, 1);
}

static void add_cgroups(pid_t from, pid_t to)
{
	pid_t pid;

	for (pid = from; pid < to; pid++) {
		snprintf(kernel[pid], sizeof(kernel[pid]), "/%d", pid);
		add_fault(pid, 1000 * pid);
	}
}

TEST(test_too_many_cgroups_share_one)
{
	add_cgroups(1, CGROUP_ANALYSES_MAX + 10);
	ck_assert_uint_eq(cgroups.nr, CGROUP_ANALYSES_MAX);
	ck_assert_uint_eq(faults_of(CGROUP_OTHERS), 10);
	ck_assert_uint_eq(faults_of("/1"), 1);
}

TEST(test_a_new_cgroup_replaces_the_one_that_has_been_empty_longest)
{
	add_cgroups(1, CGROUP_ANALYSES_MAX);
	kernel[7][0] = '\0';
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	kernel[3][0] = '\0';
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	ck_assert_int_eq(cgroup_analyses_update(&cgroups), 0);
	add_cgroups(500, 502);
	ck_assert_ptr_null(find("/7"));
	ck_assert_ptr_null(find("/3"));
	ck_assert_uint_eq(faults_of("/500"), 1);
	ck_assert_ptr_null(find(CGROUP_OTHERS));
	add_cgroups(502, 503);
	ck_assert_uint_eq(faults_of(CGROUP_OTHERS), 1);
}

/*
 * A thread that ends and a separate file for each fault. A page from the file is read and evicted.
 */
static void add_short_thread(uint32_t pid, uint32_t i)
{
	union {
		struct item_map map;
		char room[sizeof(struct item_map) + 64];
	} mapped = { .map = { .address = 0x100000 + 65536ULL * (i % 1000),
			      .bytes = 65536,
			      .inode = 1 + i,
			      .dev = 1,
			      .pid = pid,
			      .tid = pid } };
	const uint64_t ns = 1000000ULL * (1 + i);
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = pid,
			   .tid = 1000 + i,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = ns + 100 },
		.insert_ns = ns,
		.issue_ns = ns,
		.inode = 1 + i,
		.fs_dev = 1,
		.bytes = 4096,
		.file_bytes = 4096,
	};
	const struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE,
			   .size = sizeof(page),
			   .pid = 1,
			   .tid = 1,
			   .ns = ns + 600 },
		.inode = 1 + i,
		.dev = 1,
		.pages = 1,
		.comm = "kswapd0",
	};
	struct pfstat_record record = {
		.class = PFSTAT_CLASS_DISK,
		.pid = pid,
		.tid = 1000 + i,
		.inode = 1 + i,
		.dev = 1,
		.address = mapped.map.address,
		.start_ns = ns,
		.duration_ns = 500,
		.result = PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_MAJOR,
	};
	struct item item = { .type = ITEM_MAP, .ns = ns, .map = &mapped.map };

	mapped.map.path_bytes = 1 + sprintf(mapped.map.path, "/var/lib/service/segment%u", i);
	ck_assert_int_eq(cgroup_analyses_add(&cgroups, &item), 0);
	add_event(&block);
	item = (struct item){ .type = ITEM_RECORD, .ns = ns + 500, .record = &record };
	ck_assert_int_eq(cgroup_analyses_add(&cgroups, &item), 0);
	add_event(&page);
	add_task(PFSTAT_TASK_EXIT, pid, 1000 + i, 0);
}

static size_t bytes_used(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* The pfdrive-export manual page has this figure. */
TEST(test_a_cgroup_takes_at_most_2600_kb)
{
	const unsigned int nr = 8;
	const size_t before = bytes_used();
	uint32_t i;

	cgroups.groups = GROUP_BY_ALL & ~(1U << GROUP_BY_CODE);
	for (i = 0; i < nr; i++)
		sprintf(kernel[10 + i], "/%u", i);
	for (i = 0; i < 20000 * nr; i++)
		add_short_thread(10 + i % nr, i);
	ck_assert_uint_eq(cgroups.nr, nr);
	ck_assert_uint_le(bytes_used() - before, nr * 2600000);
}

FIXTURE(begin, end);
