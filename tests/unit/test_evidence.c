// SPDX-License-Identifier: GPL-2.0-only
/* The evidence of the verdict: merged time, faults of the kernel, forks, advice. */
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

START_TEST(test_overlapping_faults_count_once)
{
	static struct evidence evidence;

	add(&evidence, 100, 200);
	add(&evidence, 300, 400);
	ck_assert_uint_eq(busy_of(&evidence), 200);
	add(&evidence, 350, 500); /* overlaps the last */
	ck_assert_uint_eq(busy_of(&evidence), 300);
	add(&evidence, 150, 600); /* spans the gap */
	ck_assert_uint_eq(busy_of(&evidence), 500);
	add(&evidence, 10, 20); /* its end came late */
	ck_assert_uint_eq(busy_of(&evidence), 510);
	add(&evidence, 20, 100); /* touches both neighbours */
	ck_assert_uint_eq(busy_of(&evidence), 590);
}
END_TEST

/* A long fault arrives at its end, after many short ones of another thread. */
START_TEST(test_a_long_fault_among_short_ones_counts_whole)
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
END_TEST

START_TEST(test_waiting_for_a_cpu_is_a_preemption_or_follows_a_wakeup)
{
	static struct evidence evidence;
	struct evidence_figures figures;
	struct pfstat_off_cpu interval = { .event.ns = 1000, .off_ns = 400, .woken_ns = 900 };

	evidence_add_off_cpu(&evidence, &interval); /* asleep, its wake-up is not known */
	interval.event.flags = PFSTAT_OFF_CPU_WOKEN;
	evidence_add_off_cpu(&evidence, &interval);
	interval.event.flags = PFSTAT_OFF_CPU_PREEMPTED;
	evidence_add_off_cpu(&evidence, &interval);
	evidence_figures(&evidence, &figures);
	ck_assert_uint_eq(figures.waiting_ns, 100 + 600);
}
END_TEST

START_TEST(test_kernel_faults_forks_and_advice_are_counted)
{
	static struct evidence evidence;
	struct explained fault = { .start_ns = 10, .end_ns = 30 };
	struct pfstat_task task = { .event = { .pid = 5, .tid = 5, .flags = PFSTAT_TASK_FORK } };
	struct pfstat_advice advice = { .advice = MADV_RANDOM };
	struct evidence_figures figures;

	ck_assert_int_eq(evidence_add_fault(&evidence, &fault), 0);
	evidence_add_task(&evidence, &task);
	task.event.tid = 6; /* a thread */
	evidence_add_task(&evidence, &task);
	task.event = (struct pfstat_event){ .pid = 5, .tid = 5, .flags = PFSTAT_TASK_EXIT };
	evidence_add_task(&evidence, &task);
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
END_TEST

RUN_TESTS("evidence", test_overlapping_faults_count_once,
	  test_a_long_fault_among_short_ones_counts_whole,
	  test_waiting_for_a_cpu_is_a_preemption_or_follows_a_wakeup,
	  test_kernel_faults_forks_and_advice_are_counted)
