// SPDX-License-Identifier: GPL-2.0-only
/* One off-CPU interval, split into parts by the evidence. */
#include "runner.h"
#include "user/analyze/fault/off_cpu.h"

#define D_STATE 2
#define S_STATE 1

static enum wait_kind kind; /* in the kernel stack */

static struct pfstat_off_cpu stay_of(uint64_t off_ns, uint64_t woken_ns, uint64_t on_ns)
{
	return (struct pfstat_off_cpu){
		.event = { .flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT, .ns = on_ns },
		.off_ns = off_ns,
		.woken_ns = woken_ns,
		.state = D_STATE,
	};
}

static struct pfstat_block request_of(uint64_t insert_ns, uint64_t issue_ns, uint64_t complete_ns)
{
	return (struct pfstat_block){
		.event = { .ns = complete_ns },
		.insert_ns = insert_ns,
		.issue_ns = issue_ns,
	};
}

/* expected: "part from to" triples, ended by NR_PARTS. */
static void check(const struct pfstat_off_cpu *stay, const struct pfstat_block *requests,
		  size_t nr_requests, const uint64_t *expected)
{
	const struct off_cpu_interval interval = { .event = *stay, .kind = kind };
	const struct pfstat_block *pointers[REQUESTS_MATCHES];
	struct explain_span spans[OFF_CPU_SPLIT_MAX];
	size_t nr, i;

	for (i = 0; i < nr_requests; i++)
		pointers[i] = &requests[i];
	nr = off_cpu_split(&interval, pointers, nr_requests, spans);
	for (i = 0; expected[3 * i] != NR_PARTS; i++) {
		ck_assert_uint_lt(i, nr);
		ck_assert_uint_eq(spans[i].part, expected[3 * i]);
		ck_assert_uint_eq(spans[i].from_ns, expected[3 * i + 1]);
		ck_assert_uint_eq(spans[i].to_ns, expected[3 * i + 2]);
	}
	ck_assert_uint_eq(nr, i);
}

#define CHECK(stay, requests, nr, ...) \
	check(stay, requests, nr, (const uint64_t[]){ __VA_ARGS__, NR_PARTS })

TEST(test_own_request_splits_into_queue_and_device)
{
	const struct pfstat_off_cpu stay = stay_of(100, 190, 200);
	const struct pfstat_block request = request_of(80, 110, 180);

	CHECK(&stay, &request, 1, PART_QUEUE, 100, 110, PART_DEVICE, 110, 180, PART_COMPLETION, 180,
	      190, PART_RUNQUEUE, 190, 200);
}

TEST(test_request_issued_before_the_sleep_is_device_time)
{
	const struct pfstat_off_cpu stay = stay_of(100, 180, 200);
	const struct pfstat_block request = request_of(50, 50, 180);

	CHECK(&stay, &request, 1, PART_DEVICE, 100, 180, PART_RUNQUEUE, 180, 200);
}

TEST(test_preempted_is_run_queue)
{
	struct pfstat_off_cpu stay = stay_of(100, 0, 200);
	const struct pfstat_block request = request_of(50, 60, 180);

	stay.event.flags = PFSTAT_OFF_CPU_PREEMPTED;
	stay.state = 0;
	CHECK(&stay, &request, 1, PART_RUNQUEUE, 100, 200);
	CHECK(&stay, NULL, 0, PART_RUNQUEUE, 100, 200);
}

/* perf does not report the state, the wake-up or requests. */
TEST(test_sleep_from_perf_is_named_by_its_stack_unless_it_waits_for_io)
{
	struct pfstat_off_cpu stay = stay_of(100, 0, 200);

	stay.state = 0;
	stay.event.flags = PFSTAT_OFF_CPU_ASLEEP;
	kind = WAIT_UNKNOWN;
	CHECK(&stay, NULL, 0, PART_ASLEEP, 100, 200);
	kind = WAIT_KNOWN;
	CHECK(&stay, NULL, 0, PART_BLOCKED, 100, 200);
	kind = WAIT_OF_HANDLER;
	CHECK(&stay, NULL, 0, PART_HANDLER, 100, 200);
	kind = WAIT_KNOWN;
	stay.event.flags |= PFSTAT_OFF_CPU_IOWAIT;
	CHECK(&stay, NULL, 0, PART_ASLEEP, 100, 200);
}

TEST(test_sleep_without_a_request_is_split_by_its_state)
{
	struct pfstat_off_cpu stay = stay_of(100, 170, 200);

	CHECK(&stay, NULL, 0, PART_FOREIGN, 100, 170, PART_RUNQUEUE, 170, 200);
	stay.event.flags = PFSTAT_OFF_CPU_WOKEN;
	CHECK(&stay, NULL, 0, PART_BLOCKED, 100, 170, PART_RUNQUEUE, 170, 200);
	stay.state = 0x102; /* TASK_KILLABLE */
	CHECK(&stay, NULL, 0, PART_BLOCKED, 100, 170, PART_RUNQUEUE, 170, 200);
	stay.state = S_STATE;
	CHECK(&stay, NULL, 0, PART_RESIDUE, 100, 170, PART_RUNQUEUE, 170, 200);
}

TEST(test_an_interruptible_sleep_with_a_known_cause_is_blocked)
{
	struct pfstat_off_cpu stay = stay_of(100, 170, 200);

	stay.event.flags = PFSTAT_OFF_CPU_WOKEN;
	stay.state = S_STATE;
	kind = WAIT_KNOWN;
	CHECK(&stay, NULL, 0, PART_BLOCKED, 100, 170, PART_RUNQUEUE, 170, 200);
	stay.event.flags |= PFSTAT_OFF_CPU_IOWAIT;
	CHECK(&stay, NULL, 0, PART_FOREIGN, 100, 170, PART_RUNQUEUE, 170, 200);
	kind = WAIT_UNKNOWN;
}

/* Of a handler in user mode the thread waits interruptibly, else it can only be killed. */
TEST(test_a_sleep_for_a_handler_of_userfaultfd_is_its_own_part)
{
	struct pfstat_off_cpu stay = stay_of(100, 170, 200);

	stay.event.flags = PFSTAT_OFF_CPU_WOKEN;
	kind = WAIT_OF_HANDLER;
	stay.state = S_STATE;
	CHECK(&stay, NULL, 0, PART_HANDLER, 100, 170, PART_RUNQUEUE, 170, 200);
	stay.state = 0x102; /* TASK_KILLABLE */
	CHECK(&stay, NULL, 0, PART_HANDLER, 100, 170, PART_RUNQUEUE, 170, 200);
	kind = WAIT_UNKNOWN;
}

/* A thread waiting for a page calls io_schedule(). */
TEST(test_a_sleep_for_a_lock_is_no_completion)
{
	struct pfstat_off_cpu stay = stay_of(100, 900, 950);
	const struct pfstat_block request = request_of(90, 95, 150);

	stay.event.flags = PFSTAT_OFF_CPU_WOKEN;
	CHECK(&stay, &request, 1, PART_DEVICE, 100, 150, PART_BLOCKED, 150, 900, PART_RUNQUEUE, 900,
	      950);
	stay.event.flags = 0; /* the wake-up is not known */
	CHECK(&stay, &request, 1, PART_DEVICE, 100, 150, PART_BLOCKED, 150, 950);
}

TEST(test_run_queue_is_unknown_without_the_wake_hook)
{
	struct pfstat_off_cpu stay = stay_of(100, 0, 200);
	const struct pfstat_block request = request_of(90, 95, 150);

	stay.event.flags = PFSTAT_OFF_CPU_IOWAIT;
	CHECK(&stay, NULL, 0, PART_FOREIGN, 100, 200);
	CHECK(&stay, &request, 1, PART_DEVICE, 100, 150, PART_RUNQUEUE, 150, 200);
}

TEST(test_device_wins_over_queue)
{
	const struct pfstat_off_cpu stay = stay_of(100, 400, 410);
	const struct pfstat_block requests[] = {
		request_of(100, 300, 400),
		request_of(100, 150, 250),
	};

	CHECK(&stay, requests, 2, PART_QUEUE, 100, 150, PART_DEVICE, 150, 250, PART_QUEUE, 250, 300,
	      PART_DEVICE, 300, 400, PART_RUNQUEUE, 400, 410);
}

TEST(test_sleep_outside_of_requests_is_foreign)
{
	const struct pfstat_off_cpu stay = stay_of(100, 400, 400);
	const struct pfstat_block requests[] = {
		request_of(300, 300, 390),
		request_of(150, 150, 200),
	};

	CHECK(&stay, requests, 2, PART_FOREIGN, 100, 150, PART_DEVICE, 150, 200, PART_FOREIGN, 200,
	      300, PART_DEVICE, 300, 390, PART_COMPLETION, 390, 400);
}

TEST(test_a_request_that_outlasts_the_sleep_fills_it)
{
	/* Another event wakes the thread: from then on it only waits for a CPU. */
	const struct pfstat_off_cpu stay = stay_of(100, 150, 200);
	const struct pfstat_block request = request_of(90, 90, 180);

	CHECK(&stay, &request, 1, PART_DEVICE, 100, 150, PART_RUNQUEUE, 150, 200);
}
