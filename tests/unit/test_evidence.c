// SPDX-License-Identifier: GPL-2.0-only
/* The verdict's evidence: merged time, kernel faults, forks, advice. */
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "user/analyze/evidence.h"

static void add(struct evidence *evidence, uint64_t from_ns, uint64_t to_ns)
{
	const struct explained fault = { .start_ns = from_ns,
					 .end_ns = to_ns,
					 .flags = PFSTAT_FLAG_USER };

	ck_assert_int_eq(evidence_add_fault(evidence, &fault), 0);
}

static uint64_t busy_of(const struct evidence *evidence)
{
	struct evidence_figures figures;

	evidence_figures(evidence, &figures);
	return figures.busy_ns;
}

TEST(test_faults_on_a_guests_memory_are_counted)
{
	struct evidence evidence = { 0 };
	struct evidence_figures figures;
	struct explained fault = { .class = FAULT_ANON, .start_ns = 100, .end_ns = 150 };

	fault.flags = PFSTAT_FLAG_GUEST;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.flags = 0;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.flags = PFSTAT_FLAG_USER;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.guest_faults, 1);
	ck_assert_uint_eq(figures.guest_ns, 50);
	ck_assert_uint_eq(figures.kernel_faults, 2);
	evidence_exit(&evidence);
}

static void map_page(struct evidence *evidence, uint32_t pid, uint64_t address, uint64_t inode,
		     uint64_t pgoff, uint16_t before, uint16_t pages)
{
	const struct explained fault = { .class = pages ? FAULT_AROUND : FAULT_LONG,
					 .pid = pid,
					 .address = address,
					 .inode = inode,
					 .pgoff = pgoff,
					 .around_before = before,
					 .around_pages = pages,
					 .start_ns = 100,
					 .end_ns = 150,
					 .flags = PFSTAT_FLAG_USER };

	ck_assert_int_eq(evidence_add_fault(evidence, &fault), 0);
}

static uint64_t mapped_before(struct evidence *evidence)
{
	struct evidence_figures figures;

	evidence_figures(evidence, &figures);
	return figures.mapped_before.count;
}

TEST(test_pages_mapped_before_in_another_mapping)
{
	struct evidence evidence = { .handlers.page_bytes = 4096 };
	const struct item_map map = {
		.ns = 10, .pid = 1, .address = 0x20000, .bytes = 0x10000, .inode = 7
	};

	map_page(&evidence, 1, 0x10000, 7, 0, 0, 0);
	map_page(&evidence, 1, 0x10000, 7, 0, 0, 0); /* the kernel took it away */
	map_page(&evidence, 1, 0x30000, 8, 0, 0, 0); /* another file */
	map_page(&evidence, 2, 0x30000, 7, 0, 0, 0); /* another process */
	ck_assert_uint_eq(mapped_before(&evidence), 0);
	ck_assert_uint_eq(evidence.figures.mapped_here.count, 1);
	map_page(&evidence, 1, 0x24000, 7, 4, 4, 16); /* around page 0, which is mapped twice */
	ck_assert_uint_eq(mapped_before(&evidence), 0);
	map_page(&evidence, 1, 0x4f000, 7, 15, 0, 0);
	ck_assert_uint_eq(mapped_before(&evidence), 1);
	map_page(&evidence, 1, 0x50000, 7, 16, 0, 0);
	ck_assert_uint_eq(mapped_before(&evidence), 1);
	/* A new mapping at the same place. */
	ck_assert_int_eq(evidence_add_map(&evidence, &map), 0);
	map_page(&evidence, 1, 0x24000, 7, 4, 0, 0);
	ck_assert_uint_eq(mapped_before(&evidence), 2);
	/* Another file has the inode. */
	evidence_end_file(&evidence, 0, 7);
	map_page(&evidence, 1, 0x60000, 7, 4, 0, 0);
	ck_assert_uint_eq(mapped_before(&evidence), 2);
	evidence_exit(&evidence);
}

TEST(test_faults_that_map_shared_memory_again_and_stores_to_missing_pages)
{
	struct evidence evidence = { .handlers.page_bytes = 4096 };
	struct evidence_figures figures;
	struct explained fault = { .class = FAULT_FILE,
				   .content = PFSTAT_CONTENT_PRESENT,
				   .pid = 1,
				   .inode = 7,
				   .pgoff = 3,
				   .address = 0x10000,
				   .end_ns = 10,
				   .solved = true };

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.address = 0x20000;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.pgoff = 4;
	fault.address = 0x21000;
	fault.content = PFSTAT_CONTENT_NEW;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.class = FAULT_DISK;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.flags = PFSTAT_FLAG_WRITE;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.shared_before.count, 1);
	ck_assert_uint_eq(figures.mapped_before.count, 0);
	ck_assert_uint_eq(figures.missing_stores, 1);
	evidence_exit(&evidence);
}

static uint64_t removed_after(struct evidence *evidence, uint32_t pid, uint8_t content,
			      uint64_t start_ns)
{
	struct evidence_figures figures;
	const struct explained fault = { .class = FAULT_FILE,
					 .content = content,
					 .pid = pid,
					 .inode = 7,
					 .pgoff = 3,
					 .address = 0x10000,
					 .start_ns = start_ns,
					 .end_ns = start_ns + 10,
					 .solved = true };

	ck_assert_int_eq(evidence_add_fault(evidence, &fault), 0);
	evidence_figures(evidence, &figures);
	return figures.shared_removed.count;
}

TEST(test_new_pages_of_shared_memory_where_any_process_had_one_were_removed)
{
	struct evidence evidence = { .handlers.page_bytes = 4096 };

	ck_assert_uint_eq(removed_after(&evidence, 1, PFSTAT_CONTENT_NEW, 100), 0);
	ck_assert_uint_eq(removed_after(&evidence, 2, PFSTAT_CONTENT_PRESENT, 200), 0);
	ck_assert_uint_eq(removed_after(&evidence, 2, PFSTAT_CONTENT_NEW, 300), 1);
	ck_assert_uint_eq(removed_after(&evidence, 1, PFSTAT_CONTENT_NEW, 400), 2);
	/* Both tried to make the page, and one found the other's. */
	ck_assert_uint_eq(removed_after(&evidence, 2, PFSTAT_CONTENT_NEW, 405), 2);
	/* Another file has the inode. */
	evidence_end_file(&evidence, 0, 7);
	ck_assert_uint_eq(removed_after(&evidence, 1, PFSTAT_CONTENT_NEW, 500), 2);
	evidence_exit(&evidence);
}

TEST(test_overlapping_faults_count_once)
{
	static struct evidence evidence;

	add(&evidence, 100, 200);
	add(&evidence, 300, 400);
	ck_assert_uint_eq(busy_of(&evidence), 200);
	add(&evidence, 350, 500); /* overlaps the last */
	ck_assert_uint_eq(busy_of(&evidence), 300);
	add(&evidence, 150, 600); /* spans the gap */
	ck_assert_uint_eq(busy_of(&evidence), 500);
	add(&evidence, 10, 20); /* the end came late */
	ck_assert_uint_eq(busy_of(&evidence), 510);
	add(&evidence, 20, 100); /* touches both neighbours */
	ck_assert_uint_eq(busy_of(&evidence), 590);
}

/* A long fault arrives when it ends, after many short ones in another thread. */
TEST(test_a_long_fault_among_short_ones_counts_whole)
{
	static struct evidence evidence;
	struct evidence_figures figures;
	uint64_t ns;

	for (ns = 1000; ns < 999000000; ns += 50000)
		add(&evidence, ns, ns + 300);
	add(&evidence, 0, 1000000000);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.busy_ns, 1000000000);
	ck_assert_uint_eq(figures.busy_max_ns, 1000000000);
	evidence_exit(&evidence);
}

TEST(test_waiting_for_a_cpu_is_a_preemption_or_follows_a_wakeup)
{
	static struct evidence evidence;
	struct activity_figures figures;
	struct pfstat_off_cpu interval = { .event.ns = 1000, .off_ns = 400, .woken_ns = 900 };

	ck_assert_int_eq(evidence_add_off_cpu(&evidence, &interval),
			 0); /* asleep, with unknown wake-up */
	interval.event.flags = PFSTAT_OFF_CPU_WOKEN;
	ck_assert_int_eq(evidence_add_off_cpu(&evidence, &interval), 0);
	interval.event.flags = PFSTAT_OFF_CPU_PREEMPTED;
	ck_assert_int_eq(evidence_add_off_cpu(&evidence, &interval), 0);
	activity_figures(&evidence.activity, 0, 1000, &figures);
	ck_assert_uint_eq(figures.waiting_ns, 100 + 600);
	evidence_exit(&evidence);
}

TEST(test_kernel_faults_forks_and_advice_are_counted)
{
	static struct evidence evidence;
	struct explained fault = { .start_ns = 10, .end_ns = 30 };
	struct pfstat_task task = { .event = { .pid = 5, .tid = 5, .flags = PFSTAT_TASK_FORK } };
	struct pfstat_advice advice = { .advice = MADV_RANDOM };
	struct evidence_figures figures;

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	ck_assert_int_eq(evidence_add_task(&evidence, &task), 0);
	task.event.tid = 6; /* a thread */
	ck_assert_int_eq(evidence_add_task(&evidence, &task), 0);
	task.event = (struct pfstat_event){ .pid = 5, .tid = 5, .flags = PFSTAT_TASK_EXIT };
	ck_assert_int_eq(evidence_add_task(&evidence, &task), 0);
	evidence_add_advice(&evidence, &advice);
	advice.advice = MADV_POPULATE_READ;
	evidence_add_advice(&evidence, &advice);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.kernel_faults, 1);
	ck_assert_uint_eq(figures.kernel_ns, 20);
	ck_assert_uint_eq(figures.forks, 1);
	ck_assert_uint_eq(figures.advices[MADV_RANDOM], 1);
	ck_assert_uint_eq(figures.advices[MADV_NORMAL], 0);
}

TEST(test_the_longest_fault_and_all_of_1_ms_are_the_tail)
{
	struct fault_tail tail = { 0 };
	struct explained fault = { .start_ns = 5, .end_ns = 5 + 999999, .pid = 7, .tid = 8 };

	fault_tail_add(&tail, &fault);
	ck_assert_uint_eq(tail.count, 0);
	ck_assert_uint_eq(tail.longest.duration_ns, 999999);
	ck_assert_uint_eq(tail.longest.wait, 0);
	fault.end_ns = 5 + 3000000;
	fault.tid = 9;
	fault.class = (enum fault_class)PFSTAT_CLASS_MKWRITE;
	fault.parts_known = true;
	fault.parts_ns[PART_CPU_BEFORE] = 500000;
	fault.parts_ns[PART_FOREIGN] = 2500000;
	fault.nr_spans = 4; /* two sleeps with stack 4, a longer one with stack 2 */
	fault.spans[0] = (struct explain_span){ 0, 900000, PART_FOREIGN, false, 4, 0, 0, 0, 0 };
	fault.spans[1] =
		(struct explain_span){ 1000000, 2000000, PART_FOREIGN, false, 2, 0, 0, 0, 0 };
	fault.spans[2] =
		(struct explain_span){ 2100000, 2700000, PART_FOREIGN, false, 4, 0, 0, 0, 0 };
	/* The longest fault waited for a request: the stack from this wait is not the reason. */
	fault.spans[3] =
		(struct explain_span){ 2700000, 9000000, PART_DEVICE, false, 2, 0, 0, 0, 0 };
	fault_tail_add(&tail, &fault);
	ck_assert_uint_eq(tail.longest.tid, 9);
	ck_assert_int_eq(tail.longest.class, (int)PFSTAT_CLASS_MKWRITE);
	ck_assert_int_eq(tail.longest.part, PART_FOREIGN);
	ck_assert_uint_eq(tail.longest.part_ns, 2500000);
	ck_assert_uint_eq(tail.longest.wait, 4);
	ck_assert_uint_eq(tail.longest.wait_ns, 1500000);
	fault.start_ns = 10000000; /* as long: the first one stays */
	fault.tid = 10;
	fault.end_ns = fault.start_ns + tail.longest.duration_ns;
	fault_tail_add(&tail, &fault);
	ck_assert_uint_eq(tail.longest.tid, 9);
	ck_assert_uint_eq(tail.count, 2);
	ck_assert_uint_eq(tail.total_ns, 6000000);
}

TEST(test_reclaim_is_no_wait_for_a_read)
{
	struct evidence evidence = { 0 };
	struct evidence_figures figures;
	struct explained fault = {
		.class = FAULT_FILE,
		.perf = PFSTAT_PERF_SAMPLED,
		.solved = true,
		.major = true,
		.end_ns = 100,
		.parts_ns = { [PART_CPU_BEFORE] = 40, [PART_RECLAIM] = 60 },
	};

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.major = false;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.perf.read.count, 1);
	ck_assert_uint_eq(figures.perf.read.off_cpu_ns, 0);
	ck_assert_uint_eq(figures.perf.minor.off_cpu_ns, figures.perf.minor_named_ns);
	evidence_exit(&evidence);
}

TEST(test_major_fault_on_anonymous_memory_is_a_swap_in_unless_a_handler_served_it)
{
	struct evidence evidence = { 0 };
	struct evidence_figures figures;
	struct explained fault = {
		.class = FAULT_AGAIN,
		.perf = PFSTAT_PERF_SAMPLED,
		.solved = true,
		.major = true,
		.end_ns = 100,
		.parts_ns = { [PART_ASLEEP] = 60, [PART_CPU_BEFORE] = 40 },
	};

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.class = FAULT_ANON;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.inode = 5; /* a private mapping of a file */
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.inode = 0;
	fault.class = FAULT_OTHER; /* the mapping is not known */
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.class = FAULT_AGAIN;
	fault.parts_ns[PART_ASLEEP] = 0;
	fault.parts_ns[PART_HANDLER] = 60;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.perf.swapped.count, 2);
	ck_assert_uint_eq(figures.perf.swapped.off_cpu_ns, 120);
	ck_assert_uint_eq(figures.perf.swapped_again.count, 1);
	evidence_exit(&evidence);
}

/* The kernel counts a fault as major if it is retried after a sleep, too. */
TEST(test_major_fault_that_slept_for_a_lock_is_no_read)
{
	struct evidence evidence = { 0 };
	struct evidence_figures figures;
	struct explained fault = {
		.class = FAULT_FILE,
		.perf = PFSTAT_PERF_SAMPLED,
		.solved = true,
		.major = true,
		.end_ns = 100,
		.parts_ns = { [PART_ASLEEP] = 40, [PART_HANDLER] = 30 },
	};

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.parts_ns[PART_BLOCKED] = 20;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	fault.major = false;
	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.perf.read.count, 1);
	ck_assert_uint_eq(figures.perf.minor.count, 1);
	ck_assert_uint_eq(figures.perf.minor_named_ns, 50);
	evidence_exit(&evidence);
}
