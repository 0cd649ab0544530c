// SPDX-License-Identifier: GPL-2.0-only
/* The processes that had a CPU while a thread waited for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/analysis.h"

static struct cpu_tasks tasks;

static uint32_t find(uint32_t pid, const char *comm, bool recorded)
{
	struct pfstat_cpu_task event = { .task_pid = pid };
	uint32_t id;

	snprintf(event.comm, sizeof(event.comm), "%s", comm);
	ck_assert_int_eq(cpu_tasks_find(&tasks, &event, recorded, &id), 0);
	return id;
}

static void add(uint32_t pid, uint32_t task, uint64_t ns, uint64_t ran_ns)
{
	struct explained fault = { .pid = pid, .nr_spans = 2 };

	fault.spans[0] = (struct explain_span){ .to_ns = 7, .part = PART_BLOCKED };
	fault.spans[1] = (struct explain_span){
		.from_ns = 7,
		.to_ns = 7 + ns,
		.part = PART_RUNQUEUE,
		.task = task,
		.task_ran_ns = ran_ns,
	};
	cpu_tasks_add_fault(&tasks, &fault);
}

TEST(test_the_task_that_ran_longest_is_the_first)
{
	const uint32_t compiler = find(77, "compiler", false), own = find(5, "server", true);
	const uint32_t real_time = find(9, "audio", false), never = find(8, "never", false);
	struct cpu_task_row *rows;
	size_t nr;

	ck_assert_uint_eq(find(77, "compiler", false), compiler);
	ck_assert_uint_ne(find(77, "shell", false), compiler); /* before its exec */
	ck_assert_uint_ne(never, 0);
	add(5, compiler, 100, 60);
	add(6, own, 300, 40);
	add(5, own, 200, 30);
	add(5, real_time, 1000, 0);
	add(5, 0, 5000, 0);
	ck_assert_int_eq(cpu_tasks_list(&tasks, &rows, &nr), 0);
	ck_assert_uint_eq(nr, 3);
	ck_assert_str_eq(rows[0].comm, "server");
	ck_assert(rows[0].recorded && !rows[1].recorded);
	ck_assert_uint_eq(rows[0].waits, 2);
	ck_assert_uint_eq(rows[0].total_ns, 500);
	ck_assert_uint_eq(rows[0].ran_ns, 70);
	ck_assert_uint_eq(rows[0].own_ns, 200);
	ck_assert_str_eq(rows[1].comm, "compiler");
	ck_assert_uint_eq(rows[1].own_ns, 0);
	ck_assert_str_eq(rows[2].comm, "audio");
	ck_assert_uint_eq(rows[2].ran_ns, 0);
	free(rows);
	cpu_tasks_exit(&tasks);
}

TEST(test_the_number_of_tasks_is_bounded)
{
	unsigned int i;

	for (i = 0; i < CPU_TASKS_MAX; i++)
		ck_assert_uint_eq(find(i + 1, "task", false), i + 1);
	ck_assert_uint_eq(find(i + 1, "task", false), 0);
	ck_assert_uint_eq(find(1, "task", false), 1);
	cpu_tasks_exit(&tasks);
}
