// SPDX-License-Identifier: GPL-2.0-only
/* Recorded thread events as the steps of their replay. */
#include <sys/mman.h>

#include "runner.h"
#include "apps/advise/access_plan.h"

static struct access_plan plan;

static void begin(void)
{
	plan = (struct access_plan){ .start_ns = 1000, .have_off_cpu = true };
}

static void end(void)
{
	access_plan_exit(&plan);
}

static void add(uint32_t tid, enum plan_event_type type, uint64_t start_ns, uint64_t end_ns,
		uint64_t page)
{
	const struct plan_event event = {
		.type = type, .start_ns = start_ns, .end_ns = end_ns, .page = page, .pages = 1
	};

	ck_assert_int_eq(access_plan_add(&plan, tid, &event), 0);
}

static void sleep_of(uint32_t tid, uint64_t off_ns, uint64_t woken_ns, uint64_t on_ns,
		     uint32_t waker)
{
	const struct plan_event event = { .type = PLAN_EVENT_OFF_CPU,
					  .start_ns = off_ns,
					  .end_ns = on_ns,
					  .woken_ns = woken_ns,
					  .waker = waker };

	ck_assert_int_eq(access_plan_add(&plan, tid, &event), 0);
}

static void check_steps(size_t thread, const struct plan_step *expected, size_t nr)
{
	const struct plan_thread *made = plan.threads[thread];
	size_t i;

	ck_assert_uint_eq(made->nr_steps, nr);
	for (i = 0; i < nr; i++) {
		ck_assert_uint_eq(made->steps[i].type, expected[i].type);
		ck_assert_uint_eq(made->steps[i].value, expected[i].value);
		ck_assert_uint_eq(made->steps[i].mapping, expected[i].mapping);
	}
}

#define CHECK_STEPS(thread, ...)                                       \
	check_steps(thread, (const struct plan_step[]){ __VA_ARGS__ }, \
		    sizeof((const struct plan_step[]){ __VA_ARGS__ }) / sizeof(struct plan_step))

TEST(test_time_of_faults_is_left_out_and_time_between_them_is_kept)
{
	add(1, PLAN_EVENT_TOUCH, 5000, 6000, 8);
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	add(1, PLAN_EVENT_EXIT, 6500, 6500, 0);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_TOUCH, .value = 7 },
		    { .type = PLAN_RUN, .value = 2000 }, { .type = PLAN_TOUCH, .value = 8 },
		    { .type = PLAN_RUN, .value = 500 });
	ck_assert_uint_eq(plan.nr_touches, 2);
}

TEST(test_the_cost_of_the_instruments_is_no_time_of_the_program)
{
	plan.fault_extra_ns = 300;
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	add(1, PLAN_EVENT_TOUCH, 3100, 3200, 8);
	add(1, PLAN_EVENT_EXIT, 4200, 4200, 0);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_TOUCH, .value = 7 },
		    { .type = PLAN_TOUCH, .value = 8 }, { .type = PLAN_RUN, .value = 700 });
}

TEST(test_a_sleep_outside_of_faults_is_repeated_until_its_wake_up)
{
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	sleep_of(1, 2100, 2800, 2900, 0); /* within the fault */
	sleep_of(1, 3500, 4500, 4700, 0);
	add(1, PLAN_EVENT_TOUCH, 5000, 6000, 8);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_TOUCH, .value = 7 },
		    { .type = PLAN_RUN, .value = 500 }, { .type = PLAN_SLEEP, .value = 1000 },
		    { .type = PLAN_RUN, .value = 300 }, { .type = PLAN_TOUCH, .value = 8 });
}

TEST(test_time_on_the_run_queue_is_left_out)
{
	const struct plan_event preempted = {
		.type = PLAN_EVENT_OFF_CPU, .start_ns = 1500, .end_ns = 1900, .runnable = true
	};

	ck_assert_int_eq(access_plan_add(&plan, 1, &preempted), 0);
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 600 }, { .type = PLAN_TOUCH, .value = 7 });
}

TEST(test_a_wait_for_another_thread_ends_with_that_thread_and_not_with_its_time)
{
	add(1, PLAN_EVENT_TOUCH, 1500, 1600, 1);
	sleep_of(1, 2000, 5000, 5100, 2);
	add(2, PLAN_EVENT_TOUCH, 3000, 4000, 9);
	add(2, PLAN_EVENT_EXIT, 5200, 5200, 0);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 500 }, { .type = PLAN_TOUCH, .value = 1 },
		    { .type = PLAN_RUN, .value = 400 }, { .type = PLAN_WAIT });
	CHECK_STEPS(1, { .type = PLAN_RUN, .value = 2000 }, { .type = PLAN_TOUCH, .value = 9 },
		    { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_SIGNAL },
		    { .type = PLAN_RUN, .value = 200 });
}

TEST(test_a_thread_starts_when_its_parent_starts_it)
{
	add(1, PLAN_EVENT_TOUCH, 1500, 1600, 1);
	ck_assert_int_eq(access_plan_fork(&plan, 2, 1, 2000), 0);
	add(2, PLAN_EVENT_TOUCH, 2300, 2400, 3);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 500 }, { .type = PLAN_TOUCH, .value = 1 },
		    { .type = PLAN_RUN, .value = 400 }, { .type = PLAN_SIGNAL });
	CHECK_STEPS(1, { .type = PLAN_WAIT }, { .type = PLAN_RUN, .value = 300 },
		    { .type = PLAN_TOUCH, .value = 3 });
}

/* Threads waking each other at the same moment. */
TEST(test_a_signal_precedes_a_wait_of_the_same_time)
{
	sleep_of(1, 2000, 3000, 3000, 2);
	sleep_of(2, 2000, 3000, 3000, 1);
	add(1, PLAN_EVENT_TOUCH, 4000, 4100, 1);
	add(2, PLAN_EVENT_TOUCH, 4000, 4100, 2);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_SIGNAL, .mapping = 1 },
		    { .type = PLAN_WAIT, .mapping = 0 }, { .type = PLAN_RUN, .value = 1000 },
		    { .type = PLAN_TOUCH, .value = 1 });
	CHECK_STEPS(1, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_SIGNAL, .mapping = 0 },
		    { .type = PLAN_WAIT, .mapping = 1 }, { .type = PLAN_RUN, .value = 1000 },
		    { .type = PLAN_TOUCH, .value = 2 });
}

TEST(test_faults_within_advice_are_no_accesses)
{
	struct plan_event advice = { .type = PLAN_EVENT_ADVICE,
				     .start_ns = 2000,
				     .end_ns = 4000,
				     .pages = 9,
				     .advice = MADV_POPULATE_READ };

	ck_assert_int_eq(access_plan_add(&plan, 1, &advice), 0);
	add(1, PLAN_EVENT_TOUCH, 2100, 3900, 4);
	add(1, PLAN_EVENT_TOUCH, 4500, 4600, 5);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1000 }, { .type = PLAN_ADVISE },
		    { .type = PLAN_RUN, .value = 500 }, { .type = PLAN_TOUCH, .value = 5 });
	ck_assert_int_eq(plan.threads[0]->steps[1].advice, MADV_POPULATE_READ);
}

TEST(test_time_of_faults_that_are_left_out_stays_as_recorded)
{
	static const bool left_out[] = { true };

	plan.left_out = left_out;
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	sleep_of(1, 2100, 2800, 2900, 0);
	add(1, PLAN_EVENT_EXIT, 3500, 3500, 0);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_RUN, .value = 1100 }, { .type = PLAN_SLEEP, .value = 700 },
		    { .type = PLAN_RUN, .value = 600 });
}

TEST(test_without_ebpf_a_thread_sleeps_between_its_faults)
{
	plan.have_off_cpu = false;
	add(1, PLAN_EVENT_TOUCH, 2000, 3000, 7);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	CHECK_STEPS(0, { .type = PLAN_SLEEP, .value = 1000 }, { .type = PLAN_TOUCH, .value = 7 });
}

TEST(test_a_thread_number_that_is_used_again_is_another_thread)
{
	add(1, PLAN_EVENT_TOUCH, 1500, 1600, 1);
	ck_assert_int_eq(access_plan_fork(&plan, 2, 1, 2000), 0);
	add(2, PLAN_EVENT_TOUCH, 2300, 2400, 3);
	ck_assert_int_eq(access_plan_fork(&plan, 2, 1, 3000), 0);
	add(2, PLAN_EVENT_TOUCH, 3300, 3400, 4);
	ck_assert_int_eq(access_plan_build(&plan), 0);
	ck_assert_uint_eq(plan.nr_threads, 3);
	CHECK_STEPS(1, { .type = PLAN_WAIT }, { .type = PLAN_RUN, .value = 300 },
		    { .type = PLAN_TOUCH, .value = 3 });
	CHECK_STEPS(2, { .type = PLAN_WAIT, .mapping = 1 }, { .type = PLAN_RUN, .value = 300 },
		    { .type = PLAN_TOUCH, .value = 4 });
}

FIXTURE(begin, end);
