// SPDX-License-Identifier: GPL-2.0-only
/* Page origins: copies, and the forks before them, huge pages, DAX. */
#include <string.h>

#include "runner.h"
#include "user/analyze/contents.h"

static struct contents contents;
static struct contents_figures figures;

static void reset(void)
{
	memset(&contents, 0, sizeof(contents));
}

static void fault(uint32_t pid, uint64_t start_ns, enum pfstat_content content)
{
	const struct explained explained = {
		.class = FAULT_COW,
		.pid = pid,
		.start_ns = start_ns,
		.end_ns = start_ns + 10,
		.solved = true,
		.content = content,
	};

	contents_add_fault(&contents, &explained);
}

static void task(uint32_t flags, uint64_t ns, uint32_t parent, uint32_t pid, uint32_t tid)
{
	const struct pfstat_task event = {
		.event = { .flags = flags, .ns = ns, .pid = pid, .tid = tid },
		.parent = parent,
		.parent_pid = parent,
	};

	contents_add_task(&contents, &event);
}

static uint64_t after_fork(void)
{
	contents_figures(&contents, &figures);
	return figures.after_fork.count;
}

TEST(test_copies_are_counted_by_their_origin)
{
	struct explained explained = { .class = FAULT_ANON, .solved = true };

	reset();
	fault(1, 100, PFSTAT_CONTENT_ZERO);
	fault(1, 200, PFSTAT_CONTENT_ZERO);
	fault(1, 300, PFSTAT_CONTENT_REUSED);
	fault(1, 400, PFSTAT_CONTENT_UNKNOWN); /* a copy in an older recording */
	contents_add_fault(&contents, &explained);
	explained.content = PFSTAT_CONTENT_NEW;
	explained.solved = false;
	contents_add_fault(&contents, &explained);
	contents_figures(&contents, &figures);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_ZERO].count, 2);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_ZERO].total_ns, 20);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_REUSED].count, 1);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_UNKNOWN].count, 1);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_NEW].count, 0);
}

TEST(test_a_copy_follows_a_fork_of_its_own_process_only)
{
	reset();
	fault(1, 90, PFSTAT_CONTENT_FORK); /* from a fork before the recording */
	task(PFSTAT_TASK_FORK, 100, 1, 2, 2);
	ck_assert_uint_eq(after_fork(), 0);
	fault(1, 95, PFSTAT_CONTENT_FORK); /* it began before the fork */
	fault(3, 110, PFSTAT_CONTENT_FORK);
	fault(1, 110, PFSTAT_CONTENT_ZERO);
	ck_assert_uint_eq(after_fork(), 0);
	fault(1, 110, PFSTAT_CONTENT_FORK);
	fault(2, 110, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 2);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_FORK].count, 5);
	ck_assert_uint_eq(figures.after_fork.total_ns, 20);
	ck_assert_uint_eq(figures.fork_pid, 1);
	ck_assert_uint_eq(figures.fork_pid_count, 2);
}

TEST(test_a_page_in_use_again_follows_a_fork_whose_child_has_ended_or_executed)
{
	reset();
	task(PFSTAT_TASK_FORK, 100, 1, 2, 2);
	task(PFSTAT_TASK_EXEC, 105, 1, 2, 2);
	fault(1, 110, PFSTAT_CONTENT_REUSED);
	fault(1, 110, PFSTAT_CONTENT_FORK); /* the child has other memory, so of another fork */
	fault(2, 110, PFSTAT_CONTENT_REUSED);
	task(PFSTAT_TASK_FORK, 120, 3, 4, 4);
	task(PFSTAT_TASK_EXIT, 125, 3, 4, 4);
	fault(3, 130, PFSTAT_CONTENT_REUSED);
	fault(5, 130, PFSTAT_CONTENT_REUSED);
	contents_figures(&contents, &figures);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_REUSED].count, 4);
	ck_assert_uint_eq(figures.reused_after_fork.count, 2);
	ck_assert_uint_eq(figures.after_fork.count, 0);
	task(PFSTAT_TASK_EXEC, 140, 0, 1, 1);
	fault(1, 150, PFSTAT_CONTENT_REUSED);
	contents_figures(&contents, &figures);
	ck_assert_uint_eq(figures.reused_after_fork.count, 2);
}

TEST(test_a_new_thread_is_no_fork)
{
	reset();
	task(PFSTAT_TASK_FORK, 100, 1, 1, 7);
	fault(1, 110, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 0);
	ck_assert_uint_eq(figures.fork_pid, 0);
}

TEST(test_exec_ends_what_two_processes_share)
{
	reset();
	task(PFSTAT_TASK_FORK, 100, 1, 2, 2);
	fault(1, 110, PFSTAT_CONTENT_FORK);
	task(PFSTAT_TASK_EXEC, 120, 2, 2, 2);
	fault(1, 130, PFSTAT_CONTENT_FORK);
	fault(2, 130, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 1);
	/* Another child did not execute a program. */
	task(PFSTAT_TASK_FORK, 140, 1, 3, 3);
	task(PFSTAT_TASK_FORK, 150, 1, 4, 4);
	task(PFSTAT_TASK_EXEC, 160, 4, 4, 4);
	fault(1, 170, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 2);
}

/* The kernel copies large folio pages also if the other process has ended. */
TEST(test_exit_leaves_the_fork_to_the_other_process)
{
	reset();
	task(PFSTAT_TASK_FORK, 100, 1, 2, 2);
	task(PFSTAT_TASK_EXIT, 110, 0, 2, 2);
	fault(1, 120, PFSTAT_CONTENT_FORK);
	fault(2, 120, PFSTAT_CONTENT_FORK); /* the number is in use again */
	ck_assert_uint_eq(after_fork(), 1);
	task(PFSTAT_TASK_FORK, 130, 1, 3, 3);
	task(PFSTAT_TASK_EXIT, 140, 0, 1, 1);
	fault(1, 150, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 1);
	fault(3, 150, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 2);
	ck_assert_uint_eq(figures.fork_pid, 1);
}

TEST(test_the_process_whose_forks_cost_most_copies_is_named)
{
	uint64_t i;

	reset();
	task(PFSTAT_TASK_FORK, 100, 1, 2, 2);
	task(PFSTAT_TASK_FORK, 100, 5, 6, 6);
	fault(2, 110, PFSTAT_CONTENT_FORK);
	for (i = 0; i < 3; i++)
		fault(6, 110 + i, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 4);
	ck_assert_uint_eq(figures.fork_pid, 5);
	ck_assert_uint_eq(figures.fork_pid_count, 3);
}

/* A server forks for each request: the children end, and leave one entry. */
TEST(test_a_server_that_forks_for_days_is_one_entry)
{
	uint32_t i;

	reset();
	task(PFSTAT_TASK_FORK, 1, 8, 9, 9);
	for (i = 0; i < 10 * CONTENTS_FORKS; i++) {
		task(PFSTAT_TASK_FORK, 100 + i, 1, 1000 + i, 1000 + i);
		task(PFSTAT_TASK_EXIT, 100 + i, 0, 1000 + i, 1000 + i);
	}
	ck_assert_uint_eq(contents.nr_forks, 2);
	fault(1, 50, PFSTAT_CONTENT_FORK);
	fault(1, 150, PFSTAT_CONTENT_FORK);
	fault(9, 150, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), 2);
}

TEST(test_more_living_children_than_entries_drop_the_oldest)
{
	uint32_t i;

	reset();
	for (i = 0; i < CONTENTS_FORKS + 1; i++)
		task(PFSTAT_TASK_FORK, 100 + i, 1 + i, 1000 + i, 1000 + i);
	for (i = 0; i < CONTENTS_FORKS + 1; i++)
		fault(1000 + i, 10000, PFSTAT_CONTENT_FORK);
	ck_assert_uint_eq(after_fork(), CONTENTS_FORKS);
}

TEST(test_huge_pages_are_counted_by_size)
{
	static const uint8_t orders[] = { 18, 9, 9, 4, 9, 6, 2 };
	struct explained explained = { .end_ns = 100, .solved = true };
	size_t i;

	reset();
	for (i = 0; i < sizeof(orders); i++) {
		explained.class = i == 4 ? FAULT_OTHER : FAULT_ANON;
		explained.huge_order = orders[i];
		contents_add_fault(&contents, &explained);
	}
	contents_figures(&contents, &figures);
	/* There is no room for the last size. */
	ck_assert_uint_eq(figures.huge[0].order, 4);
	ck_assert_uint_eq(figures.huge[1].order, 6);
	ck_assert_uint_eq(figures.huge[2].order, 9);
	ck_assert_uint_eq(figures.huge[2].anon.count, 2);
	ck_assert_uint_eq(figures.huge[2].anon.total_ns, 200);
	ck_assert_uint_eq(figures.huge[2].hugetlb.count, 1);
	ck_assert_uint_eq(figures.huge[3].order, 18);
	ck_assert_uint_eq(figures.by[PFSTAT_CONTENT_UNKNOWN].count, 0);
}

TEST(test_single_pages_of_dax_are_counted)
{
	struct pfstat_record record = { .op = PFSTAT_OP_FAULT, .result = PFSTAT_RESULT_NOPAGE };

	reset();
	contents_add_record(&contents, &record);
	record.before = PFSTAT_BEFORE_CACHED; /* it has a page cache */
	contents_add_record(&contents, &record);
	record.before = PFSTAT_BEFORE_UNKNOWN;
	record.op = PFSTAT_OP_HUGE_FAULT;
	contents_add_record(&contents, &record);
	record.op = PFSTAT_OP_FAULT;
	record.result |= PFSTAT_RESULT_RETRY;
	contents_add_record(&contents, &record);
	record.result = PFSTAT_RESULT_SIGBUS;
	contents_add_record(&contents, &record);
	contents_figures(&contents, &figures);
	ck_assert_uint_eq(figures.dax_small, 1);
}
