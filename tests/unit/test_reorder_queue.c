// SPDX-License-Identifier: GPL-2.0-only
/* Events leave the queue in time order, whatever their arrival order. */
#include "runner.h"
#include "user/collect/time_order.h"

static void add(struct reorder_queue *queue, uint64_t ns, uint32_t tid)
{
	const struct pfstat_task event = {
		.event = { .type = PFSTAT_EVENT_TASK, .size = sizeof(event), .tid = tid, .ns = ns },
	};

	ck_assert_int_eq(reorder_queue_add(queue, ITEM_EVENT, ns, &event, sizeof(event)), 0);
}

TEST(test_events_leave_by_time_then_by_arrival)
{
	static const uint64_t times[] = { 5, 3, 9, 3, 1, 7 };
	static const uint32_t expected[] = { 4, 1, 3, 0, 5, 2 };
	struct reorder_queue queue = { 0 };
	struct item item;
	unsigned int i;

	ck_assert_uint_eq(reorder_queue_next_ns(&queue), UINT64_MAX);
	for (i = 0; i < 6; i++)
		add(&queue, times[i], i);
	reorder_queue_sort(&queue);
	for (i = 0; i < 6; i++) {
		ck_assert_uint_eq(reorder_queue_next_ns(&queue), times[expected[i]]);
		item = reorder_queue_take(&queue);
		/* Items with equal times keep their arrival order. */
		ck_assert_uint_eq(item.event->tid, expected[i]);
	}
	ck_assert(!reorder_queue_any(&queue));
	reorder_queue_exit(&queue);
}

/* Also with an empty queue, for the sanitizers. */
TEST(test_empty_queue_has_no_next_event)
{
	struct reorder_queue queue = { 0 };

	reorder_queue_sort(&queue);
	ck_assert(!reorder_queue_any(&queue));
	ck_assert_uint_eq(reorder_queue_next_ns(&queue), UINT64_MAX);
	reorder_queue_exit(&queue);
}

TEST(test_memory_does_not_grow)
{
	struct reorder_queue queue = { 0 };
	uint64_t i;

	add(&queue, 0, 0);
	for (i = 1; i < 100000; i++) { /* never empty */
		add(&queue, i, i);
		reorder_queue_sort(&queue);
		ck_assert_uint_eq(reorder_queue_take(&queue).event->tid, i - 1);
	}
	ck_assert_uint_le(queue.room, 65536);
	ck_assert_uint_le(queue.capacity, 1024);
	reorder_queue_exit(&queue);
}

/*
 * Takes all items and checks time order, and arrival order at equal times. Returns the number of
 * items.
 */
static uint64_t take_all(struct reorder_queue *queue)
{
	uint64_t ns = 0, count = 0;
	uint32_t tid = 0;
	struct item item;

	for (; reorder_queue_any(queue); count++) {
		item = reorder_queue_take(queue);
		ck_assert_uint_ge(item.ns, ns);
		ck_assert(!count || item.ns > ns || item.event->tid > tid);
		ns = item.ns;
		tid = item.event->tid;
	}
	return count;
}

/* CPUs overtake each other by short times. */
TEST(test_nearly_sorted_events_are_cheap)
{
	struct reorder_queue queue = { 0 };
	uint32_t i;

	for (i = 0; i < 100000; i++)
		add(&queue, i ^ 3, i);
	ck_assert_uint_le(reorder_queue_sort(&queue), 300000);
	ck_assert_uint_eq(take_all(&queue), 100000);
	reorder_queue_exit(&queue);
}

/* A process's existing mappings arrive after a ring's events. */
TEST(test_many_old_events_after_new_ones_are_sorted)
{
	struct reorder_queue queue = { 0 };
	uint32_t i;

	for (i = 0; i < 40000; i++)
		add(&queue, 1000 + i / 2, i);
	for (; i < 100000; i++)
		add(&queue, 0, i);
	ck_assert_uint_le(reorder_queue_sort(&queue), 5000000);
	ck_assert_uint_eq(take_all(&queue), 100000);
	reorder_queue_exit(&queue);
}

/* Items left by one drain precede items from the next, also at equal times. */
TEST(test_leftover_events_precede_new_ones_of_equal_time)
{
	struct reorder_queue queue = { 0 };
	uint32_t i;

	for (i = 0; i < 2000; i++)
		add(&queue, i ? 5 : 0, i);
	reorder_queue_sort(&queue);
	reorder_queue_take(&queue);
	for (; i < 4000; i++)
		add(&queue, i < 3999 ? 5 : 1, i < 3999 ? i : 0);
	reorder_queue_sort(&queue);
	ck_assert_uint_eq(take_all(&queue), 3999);
	reorder_queue_exit(&queue);
}
