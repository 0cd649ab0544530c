// SPDX-License-Identifier: GPL-2.0-only
/* The active time of threads, the bounds of this time, and the thread that stalled most. */
#include "runner.h"
#include "user/analyze/activity.h"
#include "user/model/counters.h"

static struct activity activity;
static struct activity_figures figures;

static void add_task(uint32_t flags, uint32_t tid, uint64_t ns)
{
	const struct pfstat_task task = {
		.event = { .flags = flags, .pid = 1, .tid = tid, .ns = ns },
	};

	ck_assert_int_eq(activity_add_task(&activity, &task), 0);
}

static void add_exec(uint32_t from, uint32_t to, uint64_t ns)
{
	const struct pfstat_task task = {
		.event = { .flags = PFSTAT_TASK_EXEC, .pid = 1, .tid = to, .ns = ns },
		.parent = from,
	};

	ck_assert_int_eq(activity_add_task(&activity, &task), 0);
}

static void add_interval(uint32_t tid, uint64_t off_ns, uint64_t woken_ns, uint64_t ns,
			 uint64_t total_ns)
{
	const struct pfstat_off_cpu interval = {
		.event = { .pid = 1, .tid = tid, .ns = ns, .flags = PFSTAT_OFF_CPU_WOKEN },
		.off_ns = off_ns,
		.woken_ns = woken_ns,
		.total_ns = total_ns,
	};

	ck_assert_int_eq(activity_add_off_cpu(&activity, &interval), 0);
}

/* On the CPU, but for slept_ns and waited_ns. */
static void add_fault(uint32_t tid, uint64_t start_ns, uint64_t end_ns, uint64_t slept_ns,
		      uint64_t waited_ns)
{
	struct explained fault = { .pid = 1, .tid = tid, .start_ns = start_ns, .end_ns = end_ns };

	fault.parts_ns[PART_DEVICE] = slept_ns;
	fault.parts_ns[PART_RUNQUEUE] = waited_ns;
	fault.parts_ns[PART_CPU_BEFORE] = end_ns - start_ns - slept_ns - waited_ns;
	ck_assert_int_eq(activity_add_fault(&activity, &fault), 0);
}

static void check(uint64_t life_ns, uint64_t active_ns, uint64_t active_max_ns)
{
	activity_figures(&activity, 1000, 11000, &figures);
	ck_assert_uint_eq(figures.life_ns, life_ns);
	ck_assert_uint_eq(figures.active_ns, active_ns);
	ck_assert_uint_eq(figures.active_max_ns, active_max_ns);
}

TEST(test_a_forked_thread_that_exits_has_an_exact_active_time)
{
	add_task(PFSTAT_TASK_FORK, 5, 2000);
	add_interval(5, 2500, 5000, 5100, 0); /* slept 2500, waited 100 for a CPU */
	add_fault(5, 5200, 6200, 700, 50);    /* the sleep is activity */
	add_interval(5, 5300, 6000, 6050, 0);
	add_task(PFSTAT_TASK_EXIT, 5, 7000);
	check(5000, 2400, 2400);
	ck_assert_uint_eq(figures.waiting_ns, 100); /* without the wait in the fault */
	ck_assert_uint_eq(figures.threads, 1);
	activity_exit(&activity);
}

TEST(test_a_thread_that_was_there_before_has_bounds)
{
	add_task(0, 5, 0);
	add_task(0, 6, 0); /* sleeps all the time */
	add_fault(5, 4000, 4100, 0, 0);
	add_interval(5, 4200, 9000, 9000, 0);
	add_fault(5, 9100, 9300, 0, 0);
	check(20000, 5300 - 4800, 10000 - 4800);
	ck_assert_uint_eq(figures.threads, 2);
	activity_exit(&activity);
}

TEST(test_the_time_of_lost_intervals_is_not_active)
{
	add_task(PFSTAT_TASK_FORK, 5, 1000);
	add_interval(5, 2000, 3000, 3000, 1000);
	add_interval(5, 8000, 9000, 9000, 4000); /* another one of 2000 is missing */
	add_task(PFSTAT_TASK_EXIT, 5, 11000);
	check(10000, 6000, 6000);
	activity_exit(&activity);
}

TEST(test_the_thread_that_stalled_most_may_have_ended)
{
	add_task(PFSTAT_TASK_FORK, 5, 2000);
	add_fault(5, 2000, 2400, 400, 0); /* 400 of 1000 */
	add_task(PFSTAT_TASK_EXIT, 5, 3000);
	add_task(PFSTAT_TASK_FORK, 6, 3000);
	add_fault(6, 3000, 3001, 1, 0); /* 1 of 1: too small a part of the run */
	add_task(PFSTAT_TASK_EXIT, 6, 3001);
	add_fault(7, 4000, 7000, 3000, 0); /* 3000 of 10000 */
	check(1000 + 1 + 10000, 400 + 600 + 1 + 3000, 1000 + 1 + 10000);
	ck_assert_uint_eq(figures.stalled.tid, 5);
	ck_assert_uint_eq(figures.stalled.fault_ns, 400);
	ck_assert_uint_eq(figures.stalled.life_ns, 1000);
	add_fault(7, 7000, 9000, 2000, 0);
	activity_figures(&activity, 1000, 11000, &figures);
	ck_assert_uint_eq(figures.stalled.tid, 7);
	ck_assert_uint_eq(figures.stalled.fault_ns, 5000);
	activity_exit(&activity);
}

TEST(test_a_thread_that_executes_a_program_stays_the_same_thread)
{
	add_task(PFSTAT_TASK_FORK, 5, 1000);
	add_task(PFSTAT_TASK_FORK, 6, 1000);
	add_fault(6, 1000, 2000, 0, 0);
	add_exec(6, 5, 3000);
	add_fault(5, 4000, 6000, 0, 0);
	add_task(PFSTAT_TASK_EXIT, 5, 11000);
	check(2000 + 10000, 2000 + 10000, 2000 + 10000);
	ck_assert_uint_eq(figures.threads, 2);
	ck_assert_uint_eq(figures.stalled.tid, 5);
	ck_assert_uint_eq(figures.stalled.fault_ns, 3000);
	activity_exit(&activity);
}

TEST(test_threads_without_end_take_bounded_memory)
{
	uint32_t tid;

	for (tid = 1; tid <= 100000; tid++) {
		add_fault(tid, 10 * tid, 10 * tid + 5, 0, 0);
		ck_assert_uint_le(activity.threads.count, 16384);
	}
	activity_figures(&activity, COUNT_NA, COUNT_NA, &figures);
	ck_assert_uint_eq(figures.threads, 100000);
	ck_assert_uint_eq(figures.active_ns, 500000);
	activity_exit(&activity);
}
