// SPDX-License-Identifier: GPL-2.0-only
/* When the faults of each class took their time. */
#include "runner.h"
#include "user/analyze/fault_times.h"

#define MS   1000000ULL
#define PART (1ULL << 20)
#define ANON (1U << FAULT_ANON)
#define DISK (1U << FAULT_DISK)

static void add(struct fault_times *times, enum fault_class class, uint64_t start_ns,
		uint64_t end_ns)
{
	const struct explained fault = { .class = class, .start_ns = start_ns, .end_ns = end_ns };

	fault_times_add(times, &fault);
}

TEST(test_time_by_which_a_share_of_the_faults_had_passed)
{
	struct fault_times times = { 0 };

	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 0.95), 0);
	add(&times, FAULT_ANON, 5 * MS, 5 * MS + 950);
	add(&times, FAULT_ANON, 25 * MS, 25 * MS + 50);
	add(&times, FAULT_DISK, 45 * MS, 45 * MS + 2000);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 0.95), 5 * MS + PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 0.96), 5 * MS + 20 * PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, DISK, 0), 5 * MS + PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, DISK, 0.01), 5 * MS + 39 * PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON | DISK, 0.95), 5 * MS + 39 * PART);
}

TEST(test_parts_become_longer_with_the_run)
{
	struct fault_times times = { 0 };

	add(&times, FAULT_ANON, 0, 100);
	add(&times, FAULT_ANON, 64 * PART - 200, 64 * PART - 100); /* the last part */
	ck_assert_uint_eq(times.part_ns, PART);
	add(&times, FAULT_ANON, 64 * PART - 100, 64 * PART);
	ck_assert_uint_eq(times.part_ns, 2 * PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 0.6), 64 * PART);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 1), 66 * PART);
	add(&times, FAULT_ANON, UINT64_MAX, UINT64_MAX);
	ck_assert_uint_eq(fault_times_passed_ns(&times, ANON, 1), times.part_ns);
}
