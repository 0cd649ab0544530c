// SPDX-License-Identifier: GPL-2.0-only
/* A whole run through the analysis: figures, groups and their names, memory bounds. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/analysis.h"

#define DEV   9
#define INODE 77

static struct analysis *analysis;

static void add(enum item_type type, const void *data)
{
	struct item item = { .type = type };

	item.record = data;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void add_map_at(uint32_t pid, uint64_t address, uint64_t bytes, uint64_t pgoff,
		       uint64_t inode, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = address,
		.bytes = bytes,
		.pgoff = pgoff,
		.inode = inode,
		.dev = DEV,
		.pid = pid,
		.tid = pid,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	add(ITEM_MAP, map);
	free(map);
}

static void add_map(uint32_t pid, uint64_t address, uint64_t bytes, uint64_t inode,
		    const char *path)
{
	add_map_at(pid, address, bytes, 0, inode, path);
}

static void add_task(uint32_t flags, uint32_t pid, uint32_t tid, const char *comm)
{
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task), .flags = flags,
			.pid = pid, .tid = tid,
		},
		.parent_pid = 1,
	};

	strcpy(task.comm, comm);
	add(ITEM_EVENT, &task);
}

static void add_child(uint32_t parent, uint32_t pid)
{
	const struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .flags = PFSTAT_TASK_FORK,
			   .pid = pid,
			   .tid = pid },
		.parent = parent,
		.parent_pid = parent,
	};

	add(ITEM_EVENT, &task);
}

static void add_fault_by(uint64_t ip, uint32_t tid, uint64_t page, uint64_t start_ns,
			 uint64_t duration_ns, enum pfstat_class class)
{
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = class,
		.pid = 1,
		.tid = tid,
		.inode = INODE,
		.dev = DEV,
		.pgoff = page,
		.address = 0x100000 + page * 4096,
		.ip = ip,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.result = PFSTAT_RESULT_LOCKED |
			  (class == PFSTAT_CLASS_DISK ? PFSTAT_RESULT_MAJOR : 0),
	};

	add(ITEM_RECORD, &record);
}

static void add_fault(uint32_t tid, uint64_t page, uint64_t start_ns, uint64_t duration_ns,
		      enum pfstat_class class)
{
	add_fault_by(0x4010, tid, page, start_ns, duration_ns, class);
}

static void add_stay(uint32_t tid, uint64_t off_ns, uint64_t on_ns)
{
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = tid,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT, .ns = on_ns,
		},
		.off_ns = off_ns, .woken_ns = on_ns, .state = 2,
	};

	add(ITEM_EVENT, &stay);
}

static void add_reclaim(uint32_t tid, uint64_t from_ns, uint64_t to_ns, uint64_t pages)
{
	const struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM, .size = sizeof(reclaim), .tid = tid,
			.flags = PFSTAT_RECLAIM_CGROUP, .ns = to_ns,
		},
		.start_ns = from_ns, .pages = pages,
	};

	add(ITEM_EVENT, &reclaim);
}

static void add_mapping(uint32_t pid, uint64_t address, uint64_t bytes, uint32_t advice,
			uint32_t mmap_miss)
{
	const struct pfstat_mapping mapping = {
		.event = { .type = PFSTAT_EVENT_MAPPING,
			   .size = sizeof(mapping),
			   .pid = pid,
			   .tid = pid },
		.address = address,
		.bytes = bytes,
		.advice = advice,
		.ra_pages = 32,
		.mmap_miss = mmap_miss,
	};
	const struct item item = { .type = ITEM_EVENT, .event = &mapping.event };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void add_block(uint64_t issue_ns, uint64_t complete_ns, uint64_t pgoff)
{
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .tid = 1,
			.flags = PFSTAT_BLOCK_FILE, .ns = complete_ns,
		},
		.insert_ns = issue_ns, .issue_ns = issue_ns, .inode = INODE, .fs_dev = DEV,
		.pgoff = pgoff, .bytes = 4096, .file_bytes = 4096,
	};

	add(ITEM_EVENT, &block);
}

/* 99 cached 10 ns faults by thread 1, one 1000 ns disk fault by thread 2 */
static void add_run(void)
{
	uint64_t i;

	add_task(PFSTAT_TASK_EXEC, 1, 1, "program");
	add_task(PFSTAT_TASK_FORK, 1, 2, "worker");
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_map(1, 0x4000, 0x1000, 5, "/bin/program");
	for (i = 0; i < 99; i++)
		add_fault(1, i, 1000 + 100 * i, 10, PFSTAT_CLASS_LONG);
	add_block(20100, 20800, 99);
	add_stay(2, 20100, 20900);
	add_fault(2, 99, 20000, 1000, PFSTAT_CLASS_DISK);
	ck_assert_int_eq(analysis_finish(analysis), 0);
}

TEST(test_figures_are_summed_by_class_and_part)
{
	struct fault_figures figures;
	struct block_figures blocks;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_run();
	analysis_faults(analysis, FAULT_DISK, &figures);
	ck_assert_uint_eq(figures.count, 1);
	ck_assert_uint_eq(figures.major, 1);
	ck_assert_uint_eq(figures.parts[PART_DEVICE].total_ns, 700);
	ck_assert_uint_eq(figures.parts[PART_COMPLETION].total_ns, 100);
	ck_assert_uint_eq(figures.parts[PART_CPU_BEFORE].total_ns, 100);
	ck_assert_uint_eq(figures.parts[PART_CPU_AFTER].total_ns, 100);
	analysis_all_faults(analysis, &figures);
	ck_assert_uint_eq(figures.count, 100);
	ck_assert_uint_eq(figures.whole.total_ns, 990 + 1000);
	ck_assert_uint_eq(figures.whole.faults, 100);
	ck_assert_uint_eq(figures.parts[PART_CPU_BEFORE].faults, 100);
	ck_assert_uint_eq(figures.parts[PART_DEVICE].faults, 1);
	ck_assert_uint_eq(figures.parts[PART_QUEUE].faults, 0);
	/* The quantiles are over all faults. A fault without the part contributes 0. */
	ck_assert_uint_eq(figures.parts[PART_DEVICE].p50_ns, 0);
	ck_assert_uint_eq(figures.parts[PART_DEVICE].p99_ns, 0);
	ck_assert_uint_eq(figures.parts[PART_DEVICE].max_ns, 700);
	ck_assert_uint_eq(figures.parts[PART_CPU_BEFORE].p50_ns, 10);
	analysis_blocks(analysis, &blocks);
	ck_assert_uint_eq(blocks.reads, 1);
	ck_assert_uint_eq(blocks.bytes_read, 4096);
	ck_assert_uint_eq(blocks.device.p50_ns, 700);
	ck_assert_ptr_null(analysis_histogram(analysis, FAULT_SWAP, PART_DEVICE));
	ck_assert_uint_eq(analysis_histogram(analysis, FAULT_LONG, PART_DEVICE)->count, 99);
	analysis_free(analysis);
}

/* A wait outside faults does not count. */
TEST(test_waits_for_a_cpu_in_faults_are_summed)
{
	struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_AFTER_IDLE, .ns = 900,
		},
		.off_ns = 500, .woken_ns = 600, .state = 2,
	};
	struct activity_figures activity;
	struct evidence_figures evidence;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add(ITEM_EVENT, &stay);
	stay.off_ns = 1100;
	stay.woken_ns = 1200;
	stay.event.ns = 1270;
	add(ITEM_EVENT, &stay);
	add_fault(1, 1, 1000, 1000, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_evidence(analysis, &evidence);
	ck_assert_uint_eq(evidence.cpu_waits[CPU_WAIT_IDLE].count, 1);
	ck_assert_uint_eq(evidence.cpu_waits[CPU_WAIT_IDLE].total_ns, 70);
	ck_assert_uint_eq(evidence.cpu_waits[CPU_WAIT_TASK].count, 0);
	analysis_activity(analysis, 0, 2000, &activity);
	ck_assert_uint_eq(activity.waiting_ns, 300); /* the other 70 are in the fault */
	analysis_free(analysis);
}

/* Two preempted threads got the CPU from a recorded process, and from another one. */
TEST(test_a_task_on_the_cpu_is_known_as_a_process_of_the_run)
{
	static const uint32_t pids[] = { 1, 66 };
	struct pfstat_cpu_task task = {
		.event = { .type = PFSTAT_EVENT_CPU_TASK, .size = sizeof(task), .tid = 2 },
		.comm = "task",
	};
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .tid = 2,
			   .flags = PFSTAT_OFF_CPU_PREEMPTED | PFSTAT_OFF_CPU_AFTER_TASK },
	};
	struct cpu_task_row *rows;
	unsigned int i;
	size_t nr;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(0, 1, 1, "program");
	for (i = 0; i < 2; i++) {
		task.off_ns = stay.off_ns = 1100 + 300 * i;
		task.event.ns = stay.event.ns = stay.off_ns + 100 + i;
		task.task_pid = pids[i];
		task.ran_ns = 50;
		add(ITEM_EVENT, &task);
		add(ITEM_EVENT, &stay);
	}
	add_fault(2, 1, 1000, 1000, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(cpu_tasks_list(&analysis_waits(analysis)->tasks, &rows, &nr), 0);
	ck_assert_uint_eq(nr, 2);
	ck_assert_uint_eq(rows[0].pid, 66);
	ck_assert(!rows[0].recorded && rows[1].recorded);
	ck_assert_uint_eq(rows[0].total_ns, 101);
	ck_assert_uint_eq(rows[0].own_ns, 0);
	ck_assert_uint_eq(rows[1].total_ns, 100);
	ck_assert_uint_eq(rows[1].own_ns, 100);
	free(rows);
	analysis_free(analysis);
}

static void add_lock_sleep(const char *functions, uint64_t off_ns)
{
	struct pfstat_wait wait = {
		.event = { .type = PFSTAT_EVENT_WAIT,
			   .size = sizeof(wait),
			   .tid = 2,
			   .ns = off_ns,
			   .flags = PFSTAT_WAIT_NAMED },
		.off_ns = off_ns,
	};
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .tid = 2,
			   .ns = off_ns + 60,
			   .flags = PFSTAT_OFF_CPU_WOKEN | (PFSTAT_WAKER_CALL + 11U)
								   << PFSTAT_OFF_CPU_WAKER_SHIFT },
		.off_ns = off_ns,
		.woken_ns = off_ns + 50,
		.state = 2,
		.waker = 3,
	};

	snprintf(wait.functions, sizeof(wait.functions), "%s", functions);
	add(ITEM_EVENT, &wait);
	add(ITEM_EVENT, &stay);
}

/* The lock is taken before the fault begins, and again for a second attempt. */
TEST(test_sleeps_for_mmap_lock_before_a_fault_are_known)
{
	const struct lock_wakers *wakers;
	const struct waits *waits;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(0, 1, 3, "worker");
	add_lock_sleep("rwsem_down_read_slowpath<down_read<do_user_addr_fault", 500);
	add_lock_sleep("rwsem_down_read_slowpath<down_read<do_user_addr_fault", 1100);
	add_lock_sleep("rwsem_down_read_slowpath<down_read<ext4_filemap_fault", 1200);
	add_lock_sleep("schedule<mem_cgroup_oom_synchronize<do_user_addr_fault", 1300);
	add_lock_sleep("schedule<io_schedule<do_user_addr_fault", 1400);
	add_fault(2, 1, 1000, 1000, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	waits = analysis_waits(analysis);
	wakers = &waits->lock_wakers;
	ck_assert_uint_eq(wakers->sleeps, 2);
	ck_assert_uint_eq(wakers->total_ns, 100);
	ck_assert_uint_eq(wakers->nr, 1);
	ck_assert_str_eq(wakers->rows[0].comm, "worker");
	ck_assert_uint_eq(wakers->rows[0].doing, PFSTAT_WAKER_CALL + 11);
	ck_assert(waits->rows[0].is_mmap_lock);
	ck_assert_uint_eq(waits->rows[0].total_ns, 50); /* in the fault */
	analysis_free(analysis);
}

TEST(test_reclaims_are_counted_in_and_outside_of_faults)
{
	struct evidence_figures evidence;
	const struct evidence_reclaims *reclaims = &evidence.reclaims[PFSTAT_RECLAIM_CGROUP];
	struct fault_figures figures;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_reclaim(1, 500, 700, 8); /* before the fault */
	add_stay(1, 1200, 1300);
	add_reclaim(1, 1100, 1600, 32);
	add_fault(1, 1, 1000, 1000, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_evidence(analysis, &evidence);
	ck_assert_uint_eq(reclaims->count, 2);
	ck_assert_uint_eq(reclaims->total_ns, 700);
	ck_assert_uint_eq(reclaims->pages, 40);
	analysis_faults(analysis, FAULT_LONG, &figures);
	ck_assert_uint_eq(figures.parts[PART_RECLAIM].total_ns, 500);
	ck_assert_uint_eq(figures.reclaim_cpu_ns, 400);
	analysis_free(analysis);
}

static void add_wait(uint32_t tid, uint64_t off_ns, const char *functions)
{
	struct pfstat_wait wait = {
		.event = {
			.type = PFSTAT_EVENT_WAIT, .size = sizeof(wait), .tid = tid,
			.flags = PFSTAT_WAIT_NAMED, .ns = off_ns,
		},
		.off_ns = off_ns,
	};

	strcpy(wait.functions, functions);
	add(ITEM_EVENT, &wait);
}

TEST(test_a_wait_for_userfaultfd_has_its_handler)
{
	const struct pfstat_userfault read = {
		.event = { PFSTAT_EVENT_USERFAULT, sizeof(read), 0, 70, 71, 500000 },
		.address = 0x101000,
		.target = 1,
		.comm = "restore",
	};
	struct evidence_figures evidence;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(0, 1, 4, "reader");
	add_wait(4, 3000, "handle_userfault<shmem_fault");
	add(ITEM_EVENT, &read);
	add_stay(4, 3000, 2000000);
	add_fault(4, 1, 2000, 2000000, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_evidence(analysis, &evidence);
	ck_assert_uint_eq(evidence.handlers.nr, 1);
	ck_assert_uint_eq(evidence.handlers.rows[0].pid, 70);
	ck_assert_uint_eq(evidence.handlers.rows[0].queue_ns, 497000);
	ck_assert_uint_gt(evidence.handlers.rows[0].work_ns, 0);
	ck_assert_uint_eq(evidence.handlers.rows[0].unread, 0);
	analysis_free(analysis);
}

/* A shorter fault comes before and after it. */
TEST(test_the_longest_fault_has_its_names_and_the_cause_of_its_wait)
{
	struct evidence_figures evidence;
	const struct longest_fault *longest = &evidence.tail.longest;
	const struct slow_fault *slow;
	struct slow_names names;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	ck_assert_ptr_null(slowest_longest(analysis_slowest(analysis)));
	add_map(1, 0x4000, 0x1000, 5, "/bin/p");
	add_map(1, 0x100000, 0x100000, INODE, "/data");
	add_task(0, 1, 4, "writer");
	add_fault(3, 0, 1000, 10, PFSTAT_CLASS_LONG);
	add_wait(4, 3000, "jbd2_log_wait_commit<ext4_page_mkwrite");
	add_stay(4, 3000, 2000000);
	add_fault(4, 1, 2000, 2000000, PFSTAT_CLASS_MKWRITE);
	add_map(1, 0x100000, 0x100000, 8, "/other"); /* replaces the mapping */
	add_fault(3, 2, 3000000, 10, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(analysis_name_code(analysis, "/bin/p", 0x10, "store+0x4"), 0);
	analysis_evidence(analysis, &evidence);
	ck_assert_uint_eq(evidence.tail.count, 1);
	ck_assert_uint_eq(longest->start_ns, 2000);
	ck_assert_uint_eq(longest->duration_ns, 2000000);
	ck_assert_uint_eq(longest->pgoff, 1);
	ck_assert_uint_eq(longest->tid, 4);
	ck_assert_uint_eq(longest->wait_ns, 1997000);
	slow = slowest_longest(analysis_slowest(analysis));
	ck_assert_uint_eq(slow->fault.start_ns, longest->start_ns);
	ck_assert_int_eq(analysis_slow_names(analysis, slow, &names), 0);
	ck_assert_str_eq(names.place.file, "/data");
	ck_assert_str_eq(names.place.mapping, "/data");
	ck_assert_str_eq(names.place.code, "store+0x4 (/bin/p)");
	ck_assert_str_eq(names.place.thread, "writer");
	ck_assert_str_eq(names.place.cause, "the ext4 journal (jbd2)");
	ck_assert_str_eq(names.place.functions, "jbd2_log_wait_commit<ext4_page_mkwrite");
	slow_names_exit(&names);
	analysis_free(analysis);
}

static struct group *groups_of(enum group_by by, size_t expected, uint64_t all_faults)
{
	struct group *groups;
	size_t nr, i;
	uint64_t faults = 0;

	ck_assert_int_eq(analysis_groups(analysis, by, &groups, &nr), 0);
	ck_assert_uint_eq(nr, expected);
	for (i = 0; i < nr; i++)
		faults += groups[i].faults;
	ck_assert_uint_eq(faults, all_faults);
	return groups;
}

/* Groups in the run made by add_run(). */
static struct group *groups_by(enum group_by by, size_t expected)
{
	return groups_of(by, expected, 100);
}

static int count_place(void *context, const struct code_place *place)
{
	ck_assert_str_eq(place->path, "/bin/program");
	ck_assert_uint_eq(place->offset, 0x10);
	++*(int *)context;
	return 0;
}

/* A read that had to wait. The call that completes it also maps the pages around. */
static uint64_t inherited(void)
{
	struct evidence_figures figures;

	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_evidence(analysis, &figures);
	return figures.inherited.count;
}

TEST(test_a_child_faults_in_the_mapping_of_its_parent)
{
	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(9, 0x100000, 1 << 20, INODE, "/data");
	add_child(9, 1);
	add_fault(1, 0, 1000, 10, PFSTAT_CLASS_LONG);
	add_fault(1, 1, 2000, 10, PFSTAT_CLASS_DISK); /* it reads the page */
	ck_assert_uint_eq(inherited(), 1);
	analysis_free(analysis);
}

TEST(test_a_mapping_of_its_own_is_not_inherited)
{
	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(9, 0x100000, 1 << 20, INODE, "/data");
	add_child(9, 1);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_fault(1, 0, 1000, 10, PFSTAT_CLASS_LONG);
	ck_assert_uint_eq(inherited(), 0);
	analysis_free(analysis);
}

TEST(test_a_disk_fault_also_maps_the_pages_around)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = 140 },
		.inode = INODE,
		.fs_dev = DEV,
		.bytes = 32 * 4096,
		.file_bytes = 32 * 4096,
		.insert_ns = 110,
		.issue_ns = 110,
	};
	struct pfstat_record record = {
		.class = PFSTAT_CLASS_DISK,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.pgoff = 5,
		.address = 0x105000,
		.start_ns = 100,
		.duration_ns = 50,
		.result = PFSTAT_RESULT_RETRY | PFSTAT_RESULT_MAJOR,
	};
	struct readahead_figures figures;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add(ITEM_EVENT, &block);
	add(ITEM_RECORD, &record);
	record.op = PFSTAT_OP_MAP_PAGES;
	record.class = PFSTAT_CLASS_SHORT;
	record.start_ns = 160;
	record.earlier_ns = 100;
	record.flags = PFSTAT_FLAG_TRIED;
	record.result = PFSTAT_RESULT_NOPAGE;
	record.around_before = 5;
	record.around_pages = 16;
	add(ITEM_RECORD, &record);
	analysis_readahead(analysis, &figures);
	ck_assert_uint_eq(figures.read, 32);
	ck_assert_uint_eq(figures.mapped, 16);
	ck_assert_uint_eq(figures.idle, 16);
	analysis_free(analysis);
}

TEST(test_groups_by_file_vma_and_thread_have_names)
{
	struct group *groups;
	int places = 0;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_run();
	groups = groups_by(GROUP_BY_FILE, 1);
	ck_assert_str_eq(groups[0].name, "/data");
	ck_assert_uint_eq(groups[0].major, 1);
	ck_assert_uint_eq(groups[0].max_ns, 1000);
	free(groups);
	groups = groups_by(GROUP_BY_VMA, 1);
	ck_assert_str_eq(groups[0].name, "1 100000-200000 /data");
	free(groups);
	groups = groups_by(GROUP_BY_THREAD, 2); /* sorted by cost, in descending order */
	ck_assert_str_eq(groups[0].name, "worker (2)");
	ck_assert_uint_eq(groups[0].parts_ns[PART_DEVICE], 700);
	ck_assert_str_eq(groups[1].name, "program (1)");
	ck_assert_uint_eq(groups[1].classes[PFSTAT_CLASS_LONG], 99);
	free(groups);
	groups = groups_by(GROUP_BY_CODE, 1);
	ck_assert_str_eq(groups[0].name, "0x10 (/bin/program)");
	free(groups);
	analysis_visit_code(analysis, count_place, &places);
	ck_assert_int_eq(places, 1);
	ck_assert_int_eq(analysis_name_code(analysis, "/bin/program", 0x10, "main+0x4"), 0);
	groups = groups_by(GROUP_BY_CODE, 1);
	ck_assert_str_eq(groups[0].name, "main+0x4 (/bin/program)");
	free(groups);
	analysis_free(analysis);
}

static void check_group(const struct group *group, const char *name, uint64_t faults,
			uint64_t major, uint64_t total_ns, uint64_t max_ns)
{
	ck_assert_str_eq(group->name, name);
	ck_assert_uint_eq(group->faults, faults);
	ck_assert_uint_eq(group->major, major);
	ck_assert_uint_eq(group->total_ns, total_ns);
	ck_assert_uint_eq(group->max_ns, max_ns);
	ck_assert_uint_eq(group->address, 0);
}

/*
 * Instructions at 0x10 and 0x18 are in one function, on two lines. 0x20 and 0x28 are in another
 * one, on one line. 0x30 has only a name, and 0x38 and 0x3c have nothing.
 */
static void add_named_code(void)
{
	static const char program[] = "/bin/program";
	uint64_t i;

	add_map(1, 0x4000, 0x1000, 5, program);
	for (i = 0; i < 6; i++)
		add_fault_by(0x4010 + 8 * i, 1, i, 1000 * i, 10 * (i + 1),
			     i % 2 ? PFSTAT_CLASS_DISK : PFSTAT_CLASS_LONG);
	add_fault_by(0x403c, 1, 6, 7000, 5, PFSTAT_CLASS_LONG);
	add_fault_by(0x9000, 1, 7, 8000, 4, PFSTAT_CLASS_LONG);
	add_fault_by(0, 1, 8, 9000, 1, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(analysis_name_code(analysis, program, 0x10, "f+0x0"), 0);
	ck_assert_int_eq(analysis_name_code(analysis, program, 0x18, "f+0x8"), 0);
	ck_assert_int_eq(analysis_name_code(analysis, program, 0x20, "g+0x0"), 0);
	ck_assert_int_eq(analysis_name_code(analysis, program, 0x28, "g+0x8"), 0);
	ck_assert_int_eq(analysis_name_code(analysis, program, 0x30, "g+0x10"), 0);
	ck_assert_int_eq(analysis_name_line(analysis, program, 0x10, "a.c", 1), 0);
	ck_assert_int_eq(analysis_name_line(analysis, program, 0x18, "a.c", 2), 0);
	ck_assert_int_eq(analysis_name_line(analysis, program, 0x20, "b.h", 7), 0);
	ck_assert_int_eq(analysis_name_line(analysis, program, 0x28, "b.h", 7), 0);
}

TEST(test_instructions_of_a_function_are_one_group)
{
	struct group *groups;

	analysis = analysis_new(true, 4096, 1U << GROUP_BY_FUNCTION);
	add_named_code();
	groups = groups_of(GROUP_BY_FUNCTION, 5, 9);
	check_group(&groups[0], "g (/bin/program)", 3, 1, 120, 50);
	check_group(&groups[1], "(no name) (/bin/program)", 2, 1, 65, 60);
	check_group(&groups[2], "f (/bin/program)", 2, 1, 30, 20);
	check_group(&groups[3], "(no name) (pid 1)", 1, 0, 4, 4);
	check_group(&groups[4], "(not known)", 1, 0, 1, 1);
	ck_assert_uint_eq(groups[0].classes[PFSTAT_CLASS_DISK], 1);
	ck_assert_uint_eq(groups[0].classes[PFSTAT_CLASS_LONG], 2);
	ck_assert_uint_eq(groups[0].parts_ns[PART_CPU_BEFORE], 120);
	free(groups);
	free(groups_of(GROUP_BY_CODE, 9, 9));
	analysis_free(analysis);
}

TEST(test_instructions_of_a_source_line_are_one_group)
{
	struct group *groups;

	analysis = analysis_new(true, 4096, 1U << GROUP_BY_LINE);
	add_named_code();
	groups = groups_of(GROUP_BY_LINE, 7, 9);
	check_group(&groups[0], "b.h:7 (/bin/program)", 2, 1, 70, 40);
	check_group(&groups[1], "(no name) (/bin/program)", 2, 1, 65, 60);
	check_group(&groups[2], "g (/bin/program)", 1, 0, 50, 50);
	check_group(&groups[3], "a.c:2 (/bin/program)", 1, 1, 20, 20);
	check_group(&groups[4], "a.c:1 (/bin/program)", 1, 0, 10, 10);
	check_group(&groups[5], "(no name) (pid 1)", 1, 0, 4, 4);
	check_group(&groups[6], "(not known)", 1, 0, 1, 1);
	free(groups);
	analysis_free(analysis);
}

/* A build's 300 short-lived processes are one row. */
TEST(test_threads_of_one_name_are_one_group)
{
	struct group *groups;
	uint32_t pid;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	for (pid = 10; pid < 310; pid++) {
		add_task(PFSTAT_TASK_FORK, pid, pid, "sh");
		add_fault(pid, 1, 1000 * pid, 10, PFSTAT_CLASS_LONG);
		add_task(PFSTAT_TASK_EXEC, pid, pid, "fifteen-letters");
		add_fault(pid, 1, 1000 * pid + 100, 20, PFSTAT_CLASS_LONG);
		add_task(PFSTAT_TASK_EXIT, pid, pid, "");
	}
	add_fault(999, 1, 1000000, 1, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	groups = groups_of(GROUP_BY_COMM, 3, 601);
	ck_assert_str_eq(groups[0].name, "fifteen-letters");
	ck_assert_uint_eq(groups[0].faults, 300);
	ck_assert_uint_eq(groups[0].total_ns, 300 * 20);
	ck_assert_uint_eq(groups[0].address, 0);
	ck_assert_str_eq(groups[1].name, "sh");
	ck_assert_uint_eq(groups[1].faults, 300);
	ck_assert_str_eq(groups[2].name, "(not known)");
	free(groups);
	analysis_free(analysis);
}

/* The address is the other process's. */
TEST(test_faults_on_memory_of_another_process_have_no_mapping)
{
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault),
			.flags = PFSTAT_FAULT_ANON, .pid = 1, .tid = 1, .ns = 2000,
		},
		.start_ns = 1000, .address = 0x100000, .fault_flags = PFSTAT_FLAG_REMOTE,
		.origin = PFSTAT_ORIGIN_GUP,
	};
	struct group *groups;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add(ITEM_EVENT, &fault);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	groups = groups_of(GROUP_BY_VMA, 1, 1);
	ck_assert_str_eq(groups[0].name, "1 (no mapping known)");
	free(groups);
	analysis_free(analysis);
}

TEST(test_long_names_are_kept_in_full)
{
	struct group *groups;
	char path[4096], other[4096];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	strcpy(other, path);
	other[sizeof(other) - 2] = 'b';
	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(1, 0x100000, 1 << 20, INODE, path);
	add_map(1, 0x4000, 0x1000, 5, other);
	add_fault(1, 1, 1000, 10, PFSTAT_CLASS_LONG);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	groups = groups_of(GROUP_BY_FILE, 1, 1);
	ck_assert_str_eq(groups[0].name, path);
	free(groups);
	groups = groups_of(GROUP_BY_VMA, 1, 1);
	ck_assert_str_eq(groups[0].name + strlen("1 100000-200000 "), path);
	free(groups);
	ck_assert_int_eq(analysis_name_code(analysis, other, 0x10, path + 1), 0);
	groups = groups_of(GROUP_BY_CODE, 1, 1);
	ck_assert_uint_eq(strlen(groups[0].name), strlen(path + 1) + strlen(" ()") + strlen(other));
	free(groups);
	analysis_free(analysis);
}

static struct mapping_state state_of_mapping(size_t nr_groups, uint64_t address)
{
	struct mapping_state state = { 0 };
	struct group *groups;
	size_t nr, i;

	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_VMA, &groups, &nr), 0);
	ck_assert_uint_eq(nr, nr_groups);
	for (i = 0; i < nr; i++)
		if (groups[i].address == address)
			state = groups[i].state;
	free(groups);
	return state;
}

TEST(test_a_mapping_has_its_last_advice_and_readahead)
{
	struct mapping_state state;

	analysis = analysis_new(true, 4096, 1U << GROUP_BY_VMA);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_mapping(1, 0x100000, 1 << 20, MAPPING_RANDOM, 1); /* before the first fault: no group */
	add_fault(1, 1, 1000, 10, PFSTAT_CLASS_LONG);
	ck_assert(!state_of_mapping(1, 0x100000).known);
	add_mapping(2, 0x100000, 1 << 20, MAPPING_RANDOM, 1); /* in another process */
	ck_assert(!state_of_mapping(1, 0x100000).known);
	add_mapping(1, 0x100000, 1 << 20, MAPPING_RANDOM, 2);
	add_mapping(1, 0x100000, 1 << 20, MAPPING_SEQUENTIAL, 3);
	state = state_of_mapping(1, 0x100000);
	ck_assert(state.known);
	ck_assert_uint_eq(state.advice, MAPPING_SEQUENTIAL);
	ck_assert_uint_eq(state.ra_pages, 32);
	ck_assert_uint_eq(state.mmap_miss, 3);
	analysis_free(analysis);
}

TEST(test_advice_for_a_part_of_a_mapping_is_mixed)
{
	analysis = analysis_new(true, 4096, 1U << GROUP_BY_VMA);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_fault(1, 1, 1000, 10, PFSTAT_CLASS_LONG);
	add_mapping(1, 0x100000, 1 << 19, MAPPING_RANDOM, 0);
	add_mapping(1, 0x180000, 1 << 19, MAPPING_NORMAL, 0);
	ck_assert_uint_eq(state_of_mapping(1, 0x100000).advice, MAPPING_MIXED);
	add_mapping(1, 0x100000, 1 << 20, MAPPING_NORMAL, 0);
	ck_assert_uint_eq(state_of_mapping(1, 0x100000).advice, MAPPING_NORMAL);
	/* The kernel merged it with the neighbouring mapping. */
	add_mapping(1, 0x0ff000, 1 << 21, MAPPING_RANDOM, 0);
	ck_assert_uint_eq(state_of_mapping(1, 0x100000).advice, MAPPING_NORMAL);
	add_map(1, 0x200000, 1 << 20, INODE, "/data");
	add_mapping(1, 0x100000, 1 << 21, MAPPING_RANDOM, 0);
	ck_assert_uint_eq(state_of_mapping(1, 0x100000).advice, MAPPING_RANDOM);
	analysis_free(analysis);
}

/* A process's faults at address, one per page. */
static void touch(uint64_t address, uint64_t now)
{
	struct pfstat_record record = {
		.class = PFSTAT_CLASS_LONG,
		.pid = 1,
		.tid = 1,
		.address = address,
		.start_ns = now,
		.duration_ns = 10,
		.result = 0x200,
	};
	const struct item item = { .type = ITEM_RECORD, .record = &record };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void check_vmas(size_t nr, const char *const *names, const uint64_t *faults)
{
	struct group *groups;
	size_t i, at, found;

	analysis_finish(analysis);
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_VMA, &groups, &found), 0);
	ck_assert_uint_eq(found, nr);
	for (i = 0; i < nr; i++) {
		for (at = 0; at < nr && strcmp(groups[at].name, names[i]); at++)
			;
		ck_assert_msg(at < nr, "no row %s", names[i]);
		ck_assert_uint_eq(groups[at].faults, faults[i]);
	}
	free(groups);
	analysis_free(analysis);
}

TEST(test_a_mapping_that_grows_is_one_row)
{
	analysis = analysis_new(true, 4096, 1U << GROUP_BY_VMA);
	add_map(1, 0x100000, 0x10000, 0, "//anon");
	touch(0x100000, 1000);
	add_map(1, 0x100000, 0x20000, 0, "//anon"); /* upwards */
	touch(0x110000, 2000);
	add_map(1, 0x0f0000, 0x30000, 0, "//anon"); /* downwards */
	touch(0x0f0000, 3000);
	touch(0x100000, 4000);
	/* A new mapping in the same place is smaller. */
	add_map(1, 0x100000, 0x8000, 0, "");
	touch(0x100000, 5000);
	/* Memory of another kind, and in another mapping next to it. */
	add_map(1, 0x120000, 0x10000, 0, "[heap]");
	touch(0x120000, 6000);
	add_map(1, 0x130000, 0x10000, 0, "//anon");
	touch(0x130000, 7000);
	check_vmas(4,
		   (const char *const[]){ "1 f0000-120000 (anonymous memory)",
					  "1 100000-108000 (anonymous memory)",
					  "1 120000-130000 [heap]",
					  "1 130000-140000 (anonymous memory)" },
		   (const uint64_t[]){ 4, 1, 1, 1 });
}

TEST(test_parts_of_a_file_that_continue_are_one_row)
{
	analysis = analysis_new(true, 4096, 1U << GROUP_BY_VMA);
	add_map_at(1, 0x100000, 0x10000, 0, INODE, "/data");
	touch(0x100000, 1000);
	add_map_at(1, 0x110000, 0x10000, 16, INODE, "/data");
	touch(0x110000, 2000);
	/* The same pages again, and another file. */
	add_map_at(1, 0x120000, 0x10000, 16, INODE, "/data");
	touch(0x120000, 3000);
	add_map_at(1, 0x130000, 0x10000, 32, INODE + 1, "/other");
	touch(0x130000, 4000);
	check_vmas(3,
		   (const char *const[]){ "1 100000-120000 /data", "1 120000-130000 /data",
					  "1 130000-140000 /other" },
		   (const uint64_t[]){ 2, 1, 1 });
}

TEST(test_groups_that_were_not_requested_are_refused)
{
	struct group *groups;
	int places = 0;
	size_t nr;

	analysis = analysis_new(true, 4096, 1U << GROUP_BY_FILE);
	add_run();
	free(groups_by(GROUP_BY_FILE, 1));
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_THREAD, &groups, &nr), -EINVAL);
	ck_assert_int_eq(analysis_visit_code(analysis, count_place, &places), 0);
	ck_assert_int_eq(places, 0);
	ck_assert_int_eq(analysis_name_code(analysis, "/bin/program", 0x10, "main"), 0);
	add_task(PFSTAT_TASK_EXEC, 2, 2, "other"); /* no thread with this id to rename */
	analysis_free(analysis);
}

TEST(test_groups_beyond_the_limit_are_summed_as_others)
{
	struct group *groups;
	uint64_t faults = 0;
	size_t nr, i;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	for (i = 0; i < GROUPS_MAX + 1000; i++)
		add_fault(10 + i, 1, 100 * i, 10, PFSTAT_CLASS_LONG);
	analysis_finish(analysis);
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_THREAD, &groups, &nr), 0);
	ck_assert_uint_eq(nr, GROUPS_MAX / 2 + 1000 + 1);
	ck_assert_str_eq(groups[0].name, "(others)");
	ck_assert_uint_eq(groups[0].faults, GROUPS_MAX / 2);
	ck_assert_uint_eq(groups[0].folded, GROUPS_MAX / 2);
	ck_assert_uint_eq(groups[0].others_max_ns, groups[1].total_ns);
	for (i = 0; i < nr; i++)
		faults += groups[i].faults;
	ck_assert_uint_eq(faults, GROUPS_MAX + 1000);
	free(groups);
	analysis_free(analysis);
}

TEST(test_a_fork_server_takes_no_more_memory)
{
	uint64_t i, now = 0;
	size_t peaks[2] = { 0 }, *peak; /* in each half */

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	for (i = 0; i < 300000; i++, now += 1000) {
		add_task(PFSTAT_TASK_FORK, 10 + i, 10 + i, "child");
		add_stay(10 + i, now + 10, now + 20);
		add_fault(10 + i, 1, now, 100, PFSTAT_CLASS_LONG);
		add_task(PFSTAT_TASK_EXIT, 10 + i, 10 + i, "child");
		peak = &peaks[i / 150000];
		if (!(i % 1000) && mallinfo2().uordblks > *peak)
			*peak = mallinfo2().uordblks;
	}
	ck_assert_uint_le(peaks[1], peaks[0] + peaks[0] / 16);
	analysis_free(analysis);
}

/*
 * Each fault has a separate file and thread, and the fault's page is read and evicted. The
 * pfdrive-top and pfdrive-export manual pages have this figure.
 */
TEST(test_an_analysis_takes_at_most_80_mb)
{
	const struct mallinfo2 before = mallinfo2();
	struct mallinfo2 after;
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 1,
			   .flags = PFSTAT_BLOCK_FILE },
		.fs_dev = 1,
		.bytes = 4096,
		.file_bytes = 4096,
	};
	struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE, .size = sizeof(page), .pid = 1, .tid = 1 },
		.dev = 1,
		.pages = 1,
		.comm = "kswapd0",
	};
	struct pfstat_record record = {
		.class = PFSTAT_CLASS_DISK,
		.pid = 1,
		.dev = 1,
		.duration_ns = 500,
		.result = PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_MAJOR,
	};
	struct item item;
	char path[32];
	uint64_t i;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL & ~(1U << GROUP_BY_STACK));
	for (i = 0; i < 150000; i++) {
		record.inode = 10 + i;
		block.inode = record.inode;
		page.inode = record.inode;
		record.tid = 100 + i;
		block.event.tid = record.tid;
		record.ip = 0x400000 + 16 * i;
		record.address = 0x7f0000000000 + 65536 * (i % 10000);
		record.start_ns = 1000 * (1 + i);
		block.insert_ns = record.start_ns;
		block.issue_ns = record.start_ns;
		block.event.ns = record.start_ns + 200;
		page.event.ns = record.start_ns + 700;
		sprintf(path, "/data/segments/%u", (unsigned int)i);
		add_map(1, record.address, 65536, 10 + i, path);
		item = (struct item){ .type = ITEM_EVENT, .event = &block.event };
		ck_assert_int_eq(analysis_add(analysis, &item), 0);
		item = (struct item){ .type = ITEM_RECORD, .record = &record };
		ck_assert_int_eq(analysis_add(analysis, &item), 0);
		item = (struct item){ .type = ITEM_EVENT, .event = &page.event };
		ck_assert_int_eq(analysis_add(analysis, &item), 0);
		add_task(PFSTAT_TASK_EXIT, 1, 100 + i, "");
	}
	after = mallinfo2();
	ck_assert_uint_le(after.uordblks + after.hblkhd,
			  before.uordblks + before.hblkhd + 80000000);
	analysis_free(analysis);
}

static int count_fault(void *context, const struct explained *fault)
{
	(void)fault;
	return ++*(int *)context == 5 ? -ECANCELED : 0;
}

TEST(test_error_of_a_listener_stops_the_analysis)
{
	struct pfstat_record record = { .class = PFSTAT_CLASS_LONG, .result = 0x200 };
	struct item item = { .type = ITEM_RECORD, .record = &record };
	int heard = 0, i;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	ck_assert_int_eq(analysis_listen(analysis, count_fault, &heard), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(analysis_add(analysis, &item), 0);
	ck_assert_int_eq(analysis_add(analysis, &item), -ECANCELED);
	analysis_free(analysis);
}

TEST(test_unknown_events_are_refused)
{
	struct pfstat_event event = { .type = PFSTAT_NR_EVENTS };
	const struct pfstat_record record = { .class = PFSTAT_CLASS_LONG, .order = 64 };
	const struct item bad_record = { .type = ITEM_RECORD, .record = &record };
	const struct item bad_event = { .type = ITEM_EVENT, .event = &event };
	const struct item bad_item = { .type = ITEM_NR_TYPES };

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	ck_assert_int_eq(analysis_add(analysis, &bad_record), -EINVAL);
	ck_assert_int_eq(analysis_add(analysis, &bad_event), -EINVAL);
	ck_assert_int_eq(analysis_add(analysis, &bad_item), -EINVAL);
	analysis_free(analysis);
}

TEST(test_figures_are_correct_while_the_run_continues)
{
	struct fault_figures before, after;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_fault(1, 1, 1000, 10, PFSTAT_CLASS_DISK);
	add_fault(1, 2, 1100, 10, PFSTAT_CLASS_DISK);
	add_stay(1, 1210, 1290);
	add_fault(1, 3, 1200, 100, PFSTAT_CLASS_DISK);
	analysis_faults(analysis, FAULT_DISK, &before);
	ck_assert_uint_eq(before.parts[PART_FOREIGN].p50_ns, 0);
	ck_assert_uint_eq(before.parts[PART_FOREIGN].p99_ns, 80);
	ck_assert_uint_eq(before.parts[PART_CPU_BEFORE].p50_ns, 10);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_faults(analysis, FAULT_DISK, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	analysis_free(analysis);
}

/* On btrfs, map events carry another device number than records. */
TEST(test_file_with_another_device_number_gets_the_mapped_name)
{
	struct group *groups;
	size_t nr;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_fault(1, 1, 1000, 10, PFSTAT_CLASS_LONG);
	add(ITEM_RECORD, &(struct pfstat_record){
				 .class = PFSTAT_CLASS_LONG,
				 .op = PFSTAT_OP_FAULT,
				 .pid = 1,
				 .tid = 1,
				 .inode = INODE,
				 .dev = DEV + 1,
				 .address = 0x102000,
				 .start_ns = 2000,
				 .duration_ns = 5,
				 .result = PFSTAT_RESULT_LOCKED,
			 });
	add(ITEM_RECORD, &(struct pfstat_record){
				 .class = PFSTAT_CLASS_LONG,
				 .op = PFSTAT_OP_FAULT,
				 .pid = 1,
				 .tid = 1,
				 .inode = INODE + 1,
				 .dev = 8 << 20 | 1,
				 .address = 0x102000,
				 .start_ns = 3000,
				 .duration_ns = 1,
				 .result = PFSTAT_RESULT_LOCKED,
			 });
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_FILE, &groups, &nr), 0);
	ck_assert_uint_eq(nr, 3);
	ck_assert_str_eq(groups[0].name, "/data");
	ck_assert_str_eq(groups[1].name, "/data");
	ck_assert_uint_eq(groups[1].dev, DEV + 1);
	ck_assert_str_eq(groups[2].name, "(device 8:1 inode 78)");
	free(groups);
	analysis_free(analysis);
}

TEST(test_a_fault_open_at_the_end_still_has_its_mapping)
{
	const struct pfstat_record record = {
		.class = PFSTAT_CLASS_DISK,
		.op = PFSTAT_OP_FAULT,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.address = 0x101000,
		.start_ns = 2000,
		.duration_ns = 5,
		.result = PFSTAT_RESULT_RETRY,
	};
	struct group *groups;
	size_t nr;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_map(1, 0x100000, 1 << 20, INODE, "/data");
	add_task(PFSTAT_TASK_EXEC, 1, 1, "program");
	add(ITEM_RECORD, &record);
	add_task(PFSTAT_TASK_EXIT, 1, 1, "program");
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_VMA, &groups, &nr), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_str_eq(groups[0].name, "1 100000-200000 /data");
	free(groups);
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_THREAD, &groups, &nr), 0);
	ck_assert_str_eq(groups[0].name, "program (1)");
	free(groups);
	analysis_free(analysis);
}

/*
 * 20 disk faults of 1000 us, each asleep for 100 us and for 880 us. The events for the second
 * sleeps are lost. The next fault's event reveals each lost event but the last.
 */
TEST(test_the_time_of_lost_off_cpu_events_is_residue)
{
	struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1,
			.flags = PFSTAT_OFF_CPU_IOWAIT,
		},
		.state = 2,
	};
	struct fault_figures disk;
	uint64_t i, start_ns;

	analysis = analysis_new(true, 4096, 0);
	for (i = 0; i < 20; i++) {
		start_ns = 2000000 * (i + 1);
		stay.off_ns = start_ns + 1000;
		stay.event.ns = start_ns + 101000;
		stay.total_ns += 100000;
		add(ITEM_EVENT, &stay);
		stay.total_ns += 880000;
		add_fault(1, i, start_ns, 1000000, PFSTAT_CLASS_DISK);
	}
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_faults(analysis, FAULT_DISK, &disk);
	ck_assert_uint_eq(disk.whole.total_ns, 20000000);
	ck_assert_uint_eq(disk.parts[PART_FOREIGN].total_ns, 20 * 100000);
	ck_assert_uint_eq(disk.parts[PART_RESIDUE].total_ns, 19 * 880000);
	ck_assert_uint_eq(disk.parts[PART_CPU_BEFORE].total_ns +
				  disk.parts[PART_CPU_AFTER].total_ns,
			  20 * 20000 + 880000);
	analysis_free(analysis);
}

TEST(test_a_run_without_a_fault_has_no_groups)
{
	enum group_by by;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	for (by = 0; by < NR_GROUP_BY; by++)
		free(groups_of(by, 0, 0));
	analysis_free(analysis);
}

TEST(test_times_that_run_backwards_count_as_zero)
{
	struct block_figures blocks;
	uint64_t voluntary, preempted, off_ns;

	analysis = analysis_new(true, 4096, 0);
	add_block(20800, 20100, 99);
	add_stay(2, 20900, 20100);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_blocks(analysis, &blocks);
	ck_assert_uint_eq(blocks.reads, 1);
	ck_assert_uint_eq(blocks.device.total_ns, 0);
	ck_assert_uint_eq(blocks.device.max_ns, 0);
	analysis_off_cpu(analysis, &voluntary, &preempted, &off_ns);
	ck_assert_uint_eq(voluntary, 1);
	ck_assert_uint_eq(off_ns, 0);
	analysis_free(analysis);
}

static void by_thread(const char *const *names, const uint64_t *faults, size_t nr)
{
	struct group *groups;
	size_t found, i;

	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_THREAD, &groups, &found), 0);
	ck_assert_uint_eq(found, nr);
	for (i = 0; i < nr; i++) {
		ck_assert_str_eq(groups[i].name, names[i]);
		ck_assert_uint_eq(groups[i].faults, faults[i]);
		ck_assert_uint_eq(groups[i].address, 0);
		ck_assert_uint_ne(groups[i].number, 0);
	}
	free(groups);
}

static void add_faults(uint32_t tid, uint64_t nr, uint64_t start_ns)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		add_fault(tid, i, start_ns + 100 * i, 10, PFSTAT_CLASS_LONG);
}

/* The kernel reuses the id of an exited thread. */
TEST(test_a_reused_number_is_another_thread)
{
	static const char *const names[] = { "backup.sh (1)", "postgres (1)", "sh (1)" };
	static const uint64_t faults[] = { 10, 8, 4 };

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(PFSTAT_TASK_FORK, 1, 1, "bash");
	add_task(PFSTAT_TASK_EXEC, 1, 1, "postgres");
	add_faults(1, 8, 1000);
	add_task(PFSTAT_TASK_EXIT, 1, 1, "postgres");
	add_task(PFSTAT_TASK_FORK, 1, 1, "backup.sh");
	add_faults(1, 10, 5000);
	/* The exit event is missing. The next thread's fork event arrives. */
	add_task(PFSTAT_TASK_FORK, 1, 1, "sh");
	add_faults(1, 4, 8000);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	by_thread(names, faults, 3);
	analysis_free(analysis);
}

TEST(test_a_renamed_thread_is_one_thread_with_its_last_name)
{
	static const char *const names[] = { "compactor (1)" };
	static const uint64_t faults[] = { 14 };
	struct group *groups;
	size_t nr;

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(PFSTAT_TASK_FORK, 1, 1, "server");
	add_faults(1, 10, 1000);
	add_task(PFSTAT_TASK_RENAME, 1, 1, "compactor");
	ck_assert_str_eq(analysis_thread_name(analysis, 1), "compactor");
	add_faults(1, 4, 5000);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	by_thread(names, faults, 1);
	ck_assert_int_eq(analysis_groups(analysis, GROUP_BY_COMM, &groups, &nr), 0);
	ck_assert_uint_eq(nr, 2);
	ck_assert_str_eq(groups[0].name, "server");
	ck_assert_uint_eq(groups[0].faults, 10);
	ck_assert_str_eq(groups[1].name, "compactor");
	free(groups);
	analysis_free(analysis);
}

/* The last fault of a thread is handed over when the thread exits, and still belongs to it. */
TEST(test_a_fault_open_at_exit_belongs_to_the_exiting_thread)
{
	static const char *const names[] = { "first (1)", "second (1)" };
	static const uint64_t faults[] = { 4, 2 };
	const struct pfstat_record retry = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_DISK,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.address = 0x900000,
		.start_ns = 4000,
		.duration_ns = 5,
		.result = PFSTAT_RESULT_RETRY,
	};

	analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	add_task(PFSTAT_TASK_FORK, 1, 1, "first");
	add_faults(1, 3, 1000);
	add(ITEM_RECORD, &retry);
	add_task(PFSTAT_TASK_EXIT, 1, 1, "first");
	add_task(PFSTAT_TASK_FORK, 1, 1, "second");
	add_faults(1, 2, 5000);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	by_thread(names, faults, 2);
	analysis_free(analysis);
}

static void add_return(enum pfstat_fault_kind kind, uint64_t page, uint64_t start_ns, uint64_t ns)
{
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault), .flags = kind,
			.pid = 1, .tid = 1, .ns = ns,
		},
		.start_ns = start_ns,
		.address = 0x100000 + page * 4096,
	};

	add(ITEM_EVENT, &fault);
}

TEST(test_faults_with_the_time_of_their_calls_only_are_counted)
{
	struct fault_figures figures;

	analysis = analysis_new(true, 4096, 0);
	analysis_expect_spans(analysis, true);
	ck_assert(analysis_has_spans(analysis));
	add_fault(1, 5, 1000, 100, PFSTAT_CLASS_LONG);
	add_return(PFSTAT_FAULT_HOOKED, 5, 900, 1300);
	add_fault(2, 6, 2000, 100, PFSTAT_CLASS_LONG); /* not watched */
	add_return(PFSTAT_FAULT_ANON, 7, 3000, 3050);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	analysis_all_faults(analysis, &figures);
	ck_assert_uint_eq(figures.count, 3);
	ck_assert_uint_eq(figures.calls_only, 1);
	ck_assert_uint_eq(figures.whole.total_ns, 400 + 100 + 50);
	ck_assert_uint_eq(figures.parts[PART_MM].total_ns, 300);
	ck_assert_uint_eq(figures.parts[PART_MM].faults, 1);
	analysis_faults(analysis, FAULT_LONG, &figures);
	ck_assert_uint_eq(figures.calls_only, 1);
	ck_assert_uint_eq(figures.parts[PART_CPU_BEFORE].total_ns, 200);
	analysis_free(analysis);
}

static void add_shared_write(enum pfstat_op op, uint64_t start_ns)
{
	const struct pfstat_record record = {
		.op = op,
		.class = op == PFSTAT_OP_FAULT ? PFSTAT_CLASS_LONG : PFSTAT_CLASS_MKWRITE,
		.pid = 1,
		.tid = 1,
		.address = 0x100000,
		.flags = PFSTAT_FLAG_WRITE,
		.facts = PFSTAT_FACT_SHARED,
		.start_ns = start_ns,
		.duration_ns = 10,
		.result = PFSTAT_RESULT_LOCKED,
	};

	add(ITEM_RECORD, &record);
}

/* The ledger compares the summary's calls and faults. */
TEST(test_page_mkwrite_after_the_return_is_a_fault_in_the_summary_also)
{
	struct summary_figures summary;
	struct fault_figures figures;

	analysis = analysis_new(true, 4096, 0);
	analysis_expect_spans(analysis, true);
	add_shared_write(PFSTAT_OP_FAULT, 1000);
	add_shared_write(PFSTAT_OP_PAGE_MKWRITE, 1020);
	add_return(PFSTAT_FAULT_HOOKED, 0, 990, 1050);
	add_shared_write(PFSTAT_OP_FAULT, 2000);
	add_return(PFSTAT_FAULT_HOOKED, 0, 1990, 2050);
	add_shared_write(PFSTAT_OP_PAGE_MKWRITE, 2100);
	add_return(PFSTAT_FAULT_HOOKED, 0, 2090, 2150);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	summary_figures(analysis_summary(analysis), &summary);
	analysis_all_faults(analysis, &figures);
	ck_assert_uint_eq(summary.sequels, 1);
	ck_assert_uint_eq(summary.faults, 3);
	ck_assert_uint_eq(figures.count, 3);
	ck_assert_uint_eq(figures.unsolved, 0);
	analysis_free(analysis);
}

/* An event for another fault proves that the first fault has returned, also in an old recording. */
TEST(test_page_mkwrite_after_another_fault_is_a_fault_without_spans)
{
	struct summary_figures summary;
	struct fault_figures figures;

	analysis = analysis_new(true, 4096, 0);
	add_shared_write(PFSTAT_OP_FAULT, 1000);
	add_return(PFSTAT_FAULT_ANON, 5, 1100, 1150);
	add_shared_write(PFSTAT_OP_PAGE_MKWRITE, 1200);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	summary_figures(analysis_summary(analysis), &summary);
	analysis_all_faults(analysis, &figures);
	ck_assert_uint_eq(summary.sequels, 0);
	ck_assert_uint_eq(summary.faults, 2);
	ck_assert_uint_eq(figures.count, 3);
	analysis_free(analysis);
}
