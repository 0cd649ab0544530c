// SPDX-License-Identifier: GPL-2.0-only
/* How much of a record a thread spent off the CPU. */
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/fault/record_off_cpu.h"

/* Asks for [start, end) and expects that nothing of it was forgotten before. */
static uint64_t take(struct offcpu *offcpu, uint64_t start_ns, uint64_t end_ns)
{
	bool partial = true;
	uint64_t ns = offcpu_take(offcpu, start_ns, end_ns, &partial);

	ck_assert(!partial);
	return ns;
}

static void add(struct offcpu *offcpu, uint64_t off_ns, uint64_t on_ns)
{
	ck_assert_int_eq(offcpu_add(offcpu, off_ns, on_ns), 0);
}

START_TEST(test_stay_inside_counts_whole)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 110, 150);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 40);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stay_begun_before_the_record_is_clipped)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 50, 150);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 50);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stay_ended_after_the_record_is_clipped)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 150, 250);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 50);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stay_over_two_records_is_shared_not_doubled)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 150, 350);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 50);
	ck_assert_uint_eq(take(&offcpu, 200, 300), 100);
	ck_assert_uint_eq(take(&offcpu, 300, 400), 50);
	ck_assert_uint_eq(take(&offcpu, 400, 500), 0);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stay_between_records_counts_for_none)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 10, 100);
	add(&offcpu, 200, 300);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 0);
	ck_assert_uint_eq(take(&offcpu, 300, 400), 0);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_two_stays_in_a_record_are_summed)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 110, 120);
	add(&offcpu, 130, 170);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 50);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stay_that_runs_backwards_counts_nothing)
{
	struct offcpu offcpu = { 0 };

	add(&offcpu, 170, 130);
	ck_assert_uint_eq(take(&offcpu, 100, 200), 0);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stays_that_came_long_before_are_kept)
{
	struct offcpu offcpu = { 0 };
	uint64_t i;

	/* As read from two buffers: all the stays first, then the records. */
	for (i = 1; i <= 1000; i++)
		add(&offcpu, 100 * i + 10, 100 * i + 10 + i % 50);
	for (i = 1; i <= 1000; i++)
		ck_assert_uint_eq(take(&offcpu, 100 * i, 100 * i + 90), i % 50);
	ck_assert_uint_eq(offcpu.count, 0);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_stays_keep_their_order_when_memory_grows)
{
	struct offcpu offcpu = { 0 };
	uint64_t i;

	/* The oldest lies in the middle of the ring when that becomes too small. */
	for (i = 1; i <= 80; i++) {
		add(&offcpu, 100 * i + 10, 100 * i + 10 + i);
		if (i == 14)
			while (offcpu.count > 4)
				take(&offcpu, 100 * (15 - offcpu.count),
				     100 * (15 - offcpu.count) + 90);
	}
	for (i = 11; i <= 80; i++)
		ck_assert_uint_eq(take(&offcpu, 100 * i, 100 * i + 90), i);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_memory_does_not_grow_with_records)
{
	struct offcpu offcpu = { 0 };
	uint64_t i;

	for (i = 1; i <= 200000; i++) {
		add(&offcpu, 100 * i + 10, 100 * i + 30);
		ck_assert_uint_eq(take(&offcpu, 100 * i, 100 * i + 90), 20);
	}
	ck_assert_uint_le(offcpu.capacity, 16);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_too_many_stays_drop_the_oldest_and_say_so)
{
	struct offcpu offcpu = { 0 };
	const uint64_t nr = OFFCPU_MAX_STAYS + 3;
	bool partial;
	uint64_t i;

	for (i = 1; i <= nr; i++)
		add(&offcpu, 100 * i + 10, 100 * i + 30);
	ck_assert_uint_eq(offcpu.count, OFFCPU_MAX_STAYS);
	ck_assert_uint_eq(offcpu.capacity, OFFCPU_MAX_STAYS);
	/* The first three are gone: 0, but known to be a lower bound. */
	for (i = 1; i <= 3; i++) {
		ck_assert_uint_eq(offcpu_take(&offcpu, 100 * i, 100 * i + 90, &partial), 0);
		ck_assert(partial);
	}
	for (; i <= nr; i++)
		ck_assert_uint_eq(take(&offcpu, 100 * i, 100 * i + 90), 20);
	offcpu_exit(&offcpu);
}
END_TEST

START_TEST(test_late_record_is_known_to_be_partial)
{
	struct offcpu offcpu = { 0 };
	bool partial;

	add(&offcpu, 110, 150);
	ck_assert_uint_eq(take(&offcpu, 300, 400), 0);
	ck_assert_uint_eq(offcpu_take(&offcpu, 100, 200, &partial), 0);
	ck_assert(partial);
	offcpu_exit(&offcpu);
}
END_TEST

/* Random stays and records of a thread against a bit a nanosecond. */
START_TEST(test_random_stays_equal_a_bitmap)
{
	static unsigned char off[40000];	/* in which fewer stays lie than are kept */
	struct offcpu offcpu = { 0 };
	uint64_t state = 4, from, to, end, sum, at;

	memset(off, 0, sizeof(off));
	for (from = random_next(&state) % 50; from + 60 < sizeof(off); from = to + 1 + end) {
		to = from + 1 + random_next(&state) % 50;
		end = random_next(&state) % 50;
		memset(off + from, 1, to - from);
		add(&offcpu, from, to);
	}
	for (at = 0; at + 60 < sizeof(off); at = end + random_next(&state) % 20) {
		end = at + random_next(&state) % 60;
		for (sum = 0, from = at; from < end; from++)
			sum += off[from];
		ck_assert_uint_eq(take(&offcpu, at, end), sum);
	}
	offcpu_exit(&offcpu);
}
END_TEST

RUN_TESTS("offcpu",
	  test_stay_inside_counts_whole,
	  test_stay_begun_before_the_record_is_clipped,
	  test_stay_ended_after_the_record_is_clipped,
	  test_stay_over_two_records_is_shared_not_doubled,
	  test_stay_between_records_counts_for_none,
	  test_two_stays_in_a_record_are_summed,
	  test_stay_that_runs_backwards_counts_nothing,
	  test_stays_that_came_long_before_are_kept,
	  test_stays_keep_their_order_when_memory_grows,
	  test_memory_does_not_grow_with_records,
	  test_too_many_stays_drop_the_oldest_and_say_so,
	  test_late_record_is_known_to_be_partial,
	  test_random_stays_equal_a_bitmap)
