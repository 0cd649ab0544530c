// SPDX-License-Identifier: GPL-2.0-only
/* The time in which no thread of a process ran outside a fault. */
#include "random.h"
#include "runner.h"
#include "user/analyze/standstill.h"
#include "user/util/array.h"

static struct standstill standstill;
static struct standstill_figures figures;
static uint32_t pid = 1;

static void add_task(uint32_t flags, uint32_t tid, uint64_t ns)
{
	const struct pfstat_task task = {
		.event = { .flags = flags, .pid = pid, .tid = tid, .ns = ns },
		.comm = "worker",
	};

	ck_assert_int_eq(standstill_add_task(&standstill, &task), 0);
}

static void start(uint32_t tid, uint64_t ns)
{
	add_task(PFSTAT_TASK_FORK, tid, ns);
}

static void stop(uint32_t tid, uint64_t ns)
{
	add_task(PFSTAT_TASK_EXIT, tid, ns);
}

static void add_interval(uint32_t flags, uint32_t tid, uint64_t off_ns, uint64_t woken_ns,
			 uint64_t ns)
{
	const struct pfstat_off_cpu interval = {
		.event = { .pid = pid, .tid = tid, .ns = ns, .flags = flags },
		.off_ns = off_ns,
		.woken_ns = woken_ns,
	};

	ck_assert_int_eq(standstill_add_off_cpu(&standstill, &interval), 0);
}

static void asleep(uint32_t tid, uint64_t off_ns, uint64_t ns)
{
	add_interval(PFSTAT_OFF_CPU_WOKEN, tid, off_ns, ns, ns);
}

static void fault(uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	const struct explained added = {
		.pid = pid,
		.tid = tid,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};

	ck_assert_int_eq(standstill_add_fault(&standstill, &added), 0);
}

/* Sleeps during the whole fault. */
static void slow_fault(uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns - start_ns > 2)
		asleep(tid, start_ns + 1, end_ns - 1);
	fault(tid, start_ns, end_ns);
}

static void check(uint64_t still_ns, uint64_t several_ns)
{
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_eq(figures.most.still.min_ns, still_ns);
	ck_assert_uint_eq(figures.most.still.max_ns, still_ns);
	ck_assert_uint_eq(figures.most.several.min_ns, several_ns);
	ck_assert_uint_eq(figures.most.several.max_ns, several_ns);
}

static void finish(void)
{
	standstill_exit(&standstill);
	standstill = (struct standstill){ 0 };
}
FIXTURE(NULL, finish);

TEST(test_threads_that_fault_at_once_stand_still)
{
	uint32_t tid;

	for (tid = 1; tid <= 4; tid++)
		start(tid, 0);
	for (tid = 1; tid <= 4; tid++)
		slow_fault(tid, 100 + tid, 1100 + tid);
	for (tid = 1; tid <= 4; tid++)
		stop(tid, 2000);
	/* From the last start to the first end: all four. */
	check(1101 - 104, 1101 - 104);
	ck_assert_uint_eq(figures.most.threads, 4);
	ck_assert_uint_eq(figures.processes, 1);
	ck_assert_str_eq(figures.most.name, "worker");
	ck_assert(figures.wakeups_known);
}

TEST(test_a_fifth_thread_that_computes_leaves_no_standstill)
{
	uint32_t tid;

	for (tid = 1; tid <= 5; tid++)
		start(tid, 0);
	for (tid = 1; tid <= 4; tid++)
		slow_fault(tid, 100 + tid, 1100 + tid);
	for (tid = 1; tid <= 5; tid++)
		stop(tid, 2000);
	check(0, 0);
}

TEST(test_a_computing_thread_that_is_preempted_leaves_no_standstill)
{
	start(1, 0);
	start(2, 0);
	add_interval(PFSTAT_OFF_CPU_PREEMPTED, 2, 200, 0, 900);
	slow_fault(1, 100, 1100);
	stop(1, 1100);
	stop(2, 1500);
	check(0, 0);
}

TEST(test_threads_that_sleep_outside_of_faults_do_not_run)
{
	start(1, 0);
	start(2, 0);
	slow_fault(1, 100, 1100);
	asleep(2, 300, 1200); /* for a futex held by thread 1 */
	stop(1, 1200);
	stop(2, 1200);
	check(1100 - 300, 0);
}

TEST(test_a_thread_that_was_woken_and_has_no_cpu_runs)
{
	start(1, 0);
	start(2, 0);
	add_interval(PFSTAT_OFF_CPU_WOKEN, 2, 50, 400, 1000);
	slow_fault(1, 100, 1100);
	stop(1, 1100);
	stop(2, 1100);
	check(300, 0);
}

TEST(test_a_thread_that_waits_for_a_cpu_in_its_fault_stands_still)
{
	start(1, 0);
	add_interval(PFSTAT_OFF_CPU_PREEMPTED, 1, 200, 0, 900);
	fault(1, 100, 1100);
	stop(1, 1500);
	check(1000, 0);
}

TEST(test_faults_between_sleeps_are_apart)
{
	start(1, 0);
	start(2, 0);
	asleep(2, 0, 5000);
	asleep(1, 10, 100);
	fault(1, 100, 200);
	asleep(1, 250, 300);
	slow_fault(1, 300, 600);
	stop(1, 700);
	stop(2, 5000);
	check(100 + 300, 0);
}

TEST(test_the_process_that_stands_still_longest_is_shown)
{
	start(1, 0);
	slow_fault(1, 100, 200);
	stop(1, 200);
	pid = 7;
	start(7, 0);
	slow_fault(7, 150, 450); /* each runs while the other does not: not each other's threads */
	stop(7, 500);
	pid = 9;
	start(9, 0);
	fault(9, 10, 20);
	check(300, 0);
	ck_assert_uint_eq(figures.most.pid, 7);
	ck_assert_uint_eq(figures.processes, 3);
}

TEST(test_a_new_process_with_an_old_number_is_another_one)
{
	start(1, 0);
	slow_fault(1, 100, 200);
	stop(1, 200);
	start(1, 1000);
	slow_fault(1, 1100, 1150);
	stop(1, 1200);
	check(100, 0);
	ck_assert_uint_eq(figures.processes, 2);
}

/* The program ran before the recording, and after it. */
TEST(test_bounds_differ_by_what_is_not_known)
{
	slow_fault(1, 100, 1100);
	slow_fault(1, 2000, 3000);
	asleep(2, 500, 600); /* is it on the CPU before 500, or after 600? */
	slow_fault(1, 4000, 4100);
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_eq(figures.most.still.min_ns, 100);
	ck_assert_uint_eq(figures.most.still.max_ns, 2100);
	asleep(2, 3500, 4200);
	asleep(1, 4300, 4400);
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	/* Between 600 and 3500 it ran: no interval is missing there. */
	ck_assert_uint_eq(figures.most.still.min_ns, 100 + 100);
	ck_assert_uint_eq(figures.most.still.max_ns, 500 + 100);
}

TEST(test_without_wakeups_the_least_is_not_known)
{
	start(1, 0);
	start(2, 0);
	add_interval(PFSTAT_OFF_CPU_ASLEEP, 2, 50, 0, 1000);
	slow_fault(1, 100, 1100);
	stop(2, 1100);
	stop(1, 1100);
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	ck_assert(!figures.wakeups_known);
	ck_assert_uint_eq(figures.most.still.min_ns, 0);
	ck_assert_uint_eq(figures.most.still.max_ns, 900);
}

/* The intervals are settled before the fault arrives, as if they were outside the fault. */
TEST(test_a_fault_with_very_many_sleeps_is_within_the_bounds)
{
	uint64_t ns;

	start(1, 0);
	for (ns = 100; ns < 100 + 1000 * 10; ns += 10)
		asleep(1, ns, ns + 5);
	fault(1, 100, 100 + 1000 * 10);
	stop(1, 20000);
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_le(figures.most.still.min_ns, 10000);
	ck_assert_uint_ge(figures.most.still.max_ns, 10000);
}

TEST(test_lost_intervals_widen_the_bounds)
{
	struct pfstat_off_cpu interval = {
		.event = { .pid = 1, .tid = 2, .ns = 60, .flags = PFSTAT_OFF_CPU_WOKEN },
		.off_ns = 50,
		.woken_ns = 60,
		.total_ns = 10,
	};

	start(1, 0);
	start(2, 0);
	ck_assert_int_eq(standstill_add_off_cpu(&standstill, &interval), 0);
	interval.event.ns = 1210;
	interval.off_ns = 1200;
	interval.woken_ns = 1210;
	interval.total_ns = 420; /* 400 are missing */
	slow_fault(1, 100, 1100);
	ck_assert_int_eq(standstill_add_off_cpu(&standstill, &interval), 0);
	stop(1, 1300);
	stop(2, 1300);
	ck_assert_int_eq(standstill_finish(&standstill), 0);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_eq(figures.most.still.min_ns, 0);
	ck_assert_uint_eq(figures.most.still.max_ns, 400);
}

TEST(test_more_living_processes_than_the_limit_are_left_out)
{
	for (pid = 1; pid <= STANDSTILL_PROCESSES; pid++) {
		start(pid, pid);
		fault(pid, 2 * pid, 3 * pid);
	}
	start(pid, 1000);
	fault(pid, 2000, 9000);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_eq(figures.processes, STANDSTILL_PROCESSES);
	ck_assert(!figures.complete);
	ck_assert_uint_eq(figures.most.pid, STANDSTILL_PROCESSES);
	pid = 5;
	stop(5, 9000);
	pid = 5000; /* replaces the ended process */
	start(pid, 10000);
	fault(pid, 10000, 90000);
	standstill_figures(&standstill, &figures);
	ck_assert_uint_eq(figures.most.pid, 5000);
	ck_assert_uint_eq(figures.processes, STANDSTILL_PROCESSES + 1);
}

/* The state of a thread at each moment: it runs, sleeps, or is in a fault. */
enum state { RUNS, SLEEPS, FAULTS };

#define THREADS 5
#define MOMENTS 4000

static unsigned char states[THREADS][MOMENTS];

static void replay(uint32_t thread, uint64_t ns)
{
	const unsigned char state = states[thread][ns - 1];
	uint64_t from_ns = ns - 1;

	while (from_ns && states[thread][from_ns - 1] == state)
		from_ns--;
	if (state == SLEEPS)
		asleep(thread + 1, from_ns, ns);
	else if (state == FAULTS)
		slow_fault(thread + 1, from_ns, ns);
}

TEST(test_any_run_is_exact, .loops = 100)
{
	uint64_t seed = _i, still_ns = 0, several_ns = 0, ns;
	unsigned int thread, runs, faults;
	unsigned char state;

	for (thread = 0; thread < THREADS; thread++) {
		start(thread + 1, 0);
		for (ns = 0; ns < MOMENTS;) {
			state = random_next(&seed) % 3;
			faults = 3 + random_next(&seed) % 30;
			while (faults-- && ns < MOMENTS)
				states[thread][ns++] = state;
		}
	}
	for (ns = 0; ns < MOMENTS; ns++) {
		for (runs = 0, faults = 0, thread = 0; thread < THREADS; thread++) {
			runs += states[thread][ns] == RUNS;
			faults += states[thread][ns] == FAULTS;
		}
		still_ns += !runs && faults;
		several_ns += !runs && faults > 1;
	}
	for (ns = 1; ns <= MOMENTS; ns++)
		for (thread = 0; thread < THREADS; thread++)
			if (ns == MOMENTS || states[thread][ns] != states[thread][ns - 1])
				replay(thread, ns);
	for (thread = 0; thread < THREADS; thread++)
		stop(thread + 1, MOMENTS);
	check(still_ns, several_ns);
}
