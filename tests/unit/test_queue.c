// SPDX-License-Identifier: GPL-2.0-only
/* Items leave in time order, whatever the order they came in. */
#include "runner.h"
#include "user/collect/queue.h"

static void add(struct queue *queue, uint64_t ns, uint32_t tid)
{
	const struct pfstat_task event = {
		.event = { .type = PFSTAT_EVENT_TASK, .size = sizeof(event), .tid = tid, .ns = ns },
	};

	ck_assert_int_eq(queue_add(queue, ITEM_EVENT, ns, &event, sizeof(event)), 0);
}

START_TEST(test_order)
{
	static const uint64_t times[] = { 5, 3, 9, 3, 1, 7 };
	static const uint32_t expected[] = { 4, 1, 3, 0, 5, 2 };
	struct queue queue = { 0 };
	struct item item;
	unsigned int i;

	ck_assert_uint_eq(queue_next_ns(&queue), UINT64_MAX);
	for (i = 0; i < 6; i++)
		add(&queue, times[i], i);
	queue_sort(&queue);
	for (i = 0; i < 6; i++) {
		ck_assert_uint_eq(queue_next_ns(&queue), times[expected[i]]);
		item = queue_take(&queue);
		/* Those of equal times as they came. */
		ck_assert_uint_eq(item.event->tid, expected[i]);
	}
	ck_assert(!queue_any(&queue));
	queue_exit(&queue);
}
END_TEST

/* Before anything was added, too: the sanitizers look at what is done with nothing. */
START_TEST(test_nothing_is_in_order)
{
	struct queue queue = { 0 };

	queue_sort(&queue);
	ck_assert(!queue_any(&queue));
	ck_assert_uint_eq(queue_next_ns(&queue), UINT64_MAX);
	queue_exit(&queue);
}
END_TEST

START_TEST(test_memory_does_not_grow)
{
	struct queue queue = { 0 };
	uint64_t i;

	add(&queue, 0, 0);
	for (i = 1; i < 100000; i++) {	/* never empty */
		add(&queue, i, i);
		queue_sort(&queue);
		ck_assert_uint_eq(queue_take(&queue).event->tid, i - 1);
	}
	ck_assert_uint_le(queue.room, 65536);
	ck_assert_uint_le(queue.capacity, 1024);
	queue_exit(&queue);
}
END_TEST

RUN_TESTS("queue", test_order, test_nothing_is_in_order, test_memory_does_not_grow)
