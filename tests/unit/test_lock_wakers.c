// SPDX-License-Identifier: GPL-2.0-only
/* Sleeps for mmap_lock, by the thread that passed the lock on and this thread's system call. */
#include <stdlib.h>

#include "runner.h"
#include "user/analyze/fault/waits.h"

#define MUNMAP (PFSTAT_WAKER_CALL + 11)

static struct lock_wakers wakers;

static void add(uint32_t waker, uint32_t doing, uint64_t ns, const char *comm)
{
	const struct pfstat_off_cpu interval = {
		.event.flags = PFSTAT_OFF_CPU_WOKEN | doing << PFSTAT_OFF_CPU_WAKER_SHIFT,
		.event.ns = 1000 + ns + 77, /* 77 ns waiting for a CPU */
		.off_ns = 1000,
		.woken_ns = 1000 + ns,
		.waker = waker,
	};

	ck_assert_int_eq(lock_wakers_add(&wakers, &interval, comm), 0);
}

static void check_row(const struct lock_waker_row *row, uint32_t tid, uint32_t doing,
		      uint64_t total_ns, const char *comm)
{
	ck_assert_uint_eq(row->tid, tid);
	ck_assert_uint_eq(row->doing, doing);
	ck_assert_uint_eq(row->total_ns, total_ns);
	ck_assert_str_eq(row->comm, comm);
}

TEST(test_sleeps_are_added_by_the_waker_and_its_call)
{
	struct lock_waker_row *rows;
	size_t nr;

	add(12, MUNMAP, 100, "worker");
	add(12, MUNMAP, 300, "worker");
	add(12, PFSTAT_WAKER_EXCEPTION, 50, "worker");
	add(13, MUNMAP, 200, "worker");
	add(12, MUNMAP, 7, "renamed");
	add(0, PFSTAT_WAKER_UNKNOWN, 5, "");
	ck_assert_uint_eq(wakers.sleeps, 6);
	ck_assert_uint_eq(wakers.total_ns, 662);
	ck_assert_int_eq(lock_wakers_list(&wakers, &rows, &nr), 0);
	ck_assert_uint_eq(nr, 5);
	check_row(&rows[0], 12, MUNMAP, 400, "worker");
	ck_assert_uint_eq(rows[0].sleeps, 2);
	ck_assert_uint_eq(rows[0].max_ns, 300);
	check_row(&rows[1], 13, MUNMAP, 200, "worker");
	check_row(&rows[2], 12, PFSTAT_WAKER_EXCEPTION, 50, "worker");
	check_row(&rows[3], 12, MUNMAP, 7, "renamed");
	check_row(&rows[4], 0, PFSTAT_WAKER_UNKNOWN, 5, "");
	free(rows);
	lock_wakers_exit(&wakers);
}

TEST(test_the_number_of_wakers_is_bounded)
{
	unsigned int i;

	for (i = 0; i <= LOCK_WAKERS_MAX; i++)
		add(i + 1, MUNMAP, 10, "worker");
	ck_assert_uint_eq(wakers.nr, LOCK_WAKERS_MAX);
	ck_assert_uint_eq(wakers.sleeps, LOCK_WAKERS_MAX + 1);
	ck_assert_uint_eq(wakers.total_ns, 10 * (LOCK_WAKERS_MAX + 1));
	lock_wakers_exit(&wakers);
}
