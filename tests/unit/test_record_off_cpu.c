// SPDX-License-Identifier: GPL-2.0-only
/* A thread's off-CPU time within a record, from the thread's interval queue. */
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/fault/off_cpu.h"

/* Takes the off-CPU time within [start, end) and expects it to be complete. */
static uint64_t take(struct off_cpu_queue *off_cpu, uint64_t start_ns, uint64_t end_ns)
{
	bool partial = true;
	uint64_t ns = off_cpu_queue_count(off_cpu, start_ns, end_ns, &partial);

	ck_assert(!partial);
	while (off_cpu_queue_oldest(off_cpu))
		off_cpu_queue_pop(off_cpu);
	return ns;
}

static void add(struct off_cpu_queue *off_cpu, uint64_t off_ns, uint64_t on_ns)
{
	const struct off_cpu_interval interval = {
		.event = { .event.ns = on_ns, .off_ns = off_ns },
	};

	ck_assert_int_eq(off_cpu_queue_add(off_cpu, &interval), 0);
	/* Faults use an interval before or after the record arrives. */
	if (off_ns % 2)
		while (off_cpu_queue_oldest(off_cpu))
			off_cpu_queue_pop(off_cpu);
}

TEST(test_off_cpu_interval_inside_counts_in_full)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 110, 150);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 40);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_interval_from_before_the_record_is_clipped)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 50, 150);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 50);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_interval_beyond_the_record_is_clipped)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 150, 250);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 50);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_interval_over_two_records_is_split)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 150, 350);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 50);
	ck_assert_uint_eq(take(&off_cpu, 200, 300), 100);
	ck_assert_uint_eq(take(&off_cpu, 300, 400), 50);
	ck_assert_uint_eq(take(&off_cpu, 400, 500), 0);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_interval_between_records_is_not_counted)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 10, 100);
	add(&off_cpu, 200, 300);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 0);
	ck_assert_uint_eq(take(&off_cpu, 300, 400), 0);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_two_off_cpu_intervals_in_a_record_are_summed)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 110, 120);
	add(&off_cpu, 130, 170);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 50);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_interval_that_runs_backwards_is_ignored)
{
	struct off_cpu_queue off_cpu = { 0 };

	add(&off_cpu, 170, 130);
	ck_assert_uint_eq(take(&off_cpu, 100, 200), 0);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_early_off_cpu_intervals_are_kept)
{
	struct off_cpu_queue off_cpu = { 0 };
	uint64_t i;

	/* As read from two buffers: first all off-CPU intervals, then the records. */
	for (i = 1; i <= 200; i++)
		add(&off_cpu, 100 * i + 10, 100 * i + 10 + i % 50);
	for (i = 1; i <= 200; i++)
		ck_assert_uint_eq(take(&off_cpu, 100 * i, 100 * i + 90), i % 50);
	ck_assert_uint_eq(off_cpu.count, 0);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_intervals_keep_their_order_when_memory_grows)
{
	struct off_cpu_queue off_cpu = { 0 };
	uint64_t i;

	/* The oldest interval lies in the middle when the ring grows. */
	for (i = 1; i <= 80; i++) {
		add(&off_cpu, 100 * i + 10, 100 * i + 10 + i);
		if (i == 14)
			while (off_cpu.count > 4)
				take(&off_cpu, 100 * (15 - off_cpu.count),
				     100 * (15 - off_cpu.count) + 90);
	}
	for (i = 11; i <= 80; i++)
		ck_assert_uint_eq(take(&off_cpu, 100 * i, 100 * i + 90), i);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_memory_does_not_grow_with_records)
{
	struct off_cpu_queue off_cpu = { 0 };
	uint64_t i;

	for (i = 1; i <= 200000; i++) {
		add(&off_cpu, 100 * i + 10, 100 * i + 30);
		ck_assert_uint_eq(take(&off_cpu, 100 * i, 100 * i + 90), 20);
	}
	ck_assert_uint_le(off_cpu.capacity, 16);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_off_cpu_intervals_beyond_the_limit_drop_the_oldest)
{
	struct off_cpu_queue off_cpu = { 0 };
	const uint64_t nr = OFF_CPU_QUEUE_MAX + 3;
	bool partial;
	uint64_t i;

	for (i = 1; i <= nr; i++)
		add(&off_cpu, 100 * i + 10, 100 * i + 30);
	ck_assert_uint_eq(off_cpu.count, OFF_CPU_QUEUE_MAX);
	ck_assert_uint_eq(off_cpu.capacity, OFF_CPU_QUEUE_MAX);
	/* The first three are dropped: the result is 0, marked as a lower bound. */
	for (i = 1; i <= 3; i++) {
		ck_assert_uint_eq(off_cpu_queue_count(&off_cpu, 100 * i, 100 * i + 90, &partial),
				  0);
		ck_assert(partial);
	}
	for (; i <= nr; i++)
		ck_assert_uint_eq(take(&off_cpu, 100 * i, 100 * i + 90), 20);
	off_cpu_queue_exit(&off_cpu);
}

TEST(test_late_record_is_reported_as_partial)
{
	struct off_cpu_queue off_cpu = { 0 };
	bool partial;

	add(&off_cpu, 110, 150);
	ck_assert_uint_eq(take(&off_cpu, 300, 400), 0);
	ck_assert_uint_eq(off_cpu_queue_count(&off_cpu, 100, 200, &partial), 0);
	ck_assert(partial);
	off_cpu_queue_exit(&off_cpu);
}

/* Random off-CPU intervals and records of a thread, compared with a bit for each nanosecond. */
TEST(test_random_off_cpu_intervals_match_a_bitmap)
{
	static unsigned char off[8000]; /* contains fewer intervals than the limit */
	struct off_cpu_queue off_cpu = { 0 };
	uint64_t state = 4, from, to, end, sum, at;

	memset(off, 0, sizeof(off));
	for (from = random_next(&state) % 50; from + 60 < sizeof(off); from = to + 1 + end) {
		to = from + 1 + random_next(&state) % 50;
		end = random_next(&state) % 50;
		memset(off + from, 1, to - from);
		add(&off_cpu, from, to);
	}
	for (at = 0; at + 60 < sizeof(off); at = end + random_next(&state) % 20) {
		end = at + random_next(&state) % 60;
		for (sum = 0, from = at; from < end; from++)
			sum += off[from];
		ck_assert_uint_eq(take(&off_cpu, at, end), sum);
	}
	off_cpu_queue_exit(&off_cpu);
}
