// SPDX-License-Identifier: GPL-2.0-only
/* The table of threads drops those in no open fault, in the same order in each process. */
#include <stdlib.h>

#include "runner.h"
#include "user/analyze/fault/thread_state.h"

/* One more does not fit. */
#define THREADS 16384U

struct closed {
	uint32_t last_tid, nr;
};

static int close_thread(void *context, struct thread_state *thread)
{
	struct closed *closed = context;

	ck_assert_uint_gt(thread->tid, closed->last_tid);
	closed->last_tid = thread->tid;
	closed->nr++;
	return 0;
}

static void add_in_complete_fault(struct thread_table *table, uint32_t tid)
{
	struct thread_state *thread = thread_table_get(table, tid);

	ck_assert_ptr_nonnull(thread);
	thread->fault = calloc(1, sizeof(*thread->fault));
	ck_assert_ptr_nonnull(thread->fault);
	thread->fault->complete = true;
}

TEST(test_dropped_threads_emit_their_faults_in_the_order_of_their_numbers)
{
	struct closed closed = { 0 };
	struct thread_table table = { .close = close_thread, .close_context = &closed };
	uint32_t i;

	/* 5 is odd, so this is each number once. */
	for (i = 0; i < THREADS; i++)
		add_in_complete_fault(&table, 1 + i * 5 % THREADS);
	ck_assert_uint_eq(closed.nr, 0);
	ck_assert_ptr_nonnull(thread_table_get(&table, THREADS + 1));
	ck_assert_uint_eq(closed.nr, THREADS);
	ck_assert_uint_eq(table.threads.count, 1);
	thread_table_exit(&table);
}
