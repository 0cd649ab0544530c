// SPDX-License-Identifier: GPL-2.0-only
/* Events from many sources leave the heap in time order. */
#include <check.h>
#include <stdlib.h>

#include "random.h"
#include "runner.h"
#include "user/collect/time_order.h"

#define NR_SOURCES 512
#define NR_ITEMS   100000

/* Each source has items in time order, some at equal times. */
TEST(test_events_of_many_sources_come_in_time_order)
{
	static uint64_t next_ns[NR_SOURCES];
	uint64_t seed = 1, last_ns = 0;
	unsigned int source, last = 0, i;
	struct time_heap heap;

	ck_assert_int_eq(time_heap_init(&heap, NR_SOURCES), 0);
	for (i = 0; i < NR_SOURCES; i++) {
		next_ns[i] = random_next(&seed) % 100;
		time_heap_add(&heap, next_ns[i], i);
	}
	for (i = 0; i < NR_ITEMS; i++) {
		source = time_heap_first(&heap);
		ck_assert_uint_ge(next_ns[source], last_ns);
		ck_assert(next_ns[source] > last_ns || source >= last || !i);
		last_ns = next_ns[source];
		last = source;
		next_ns[source] += 1 + random_next(&seed) % 100;
		time_heap_update_first(&heap, next_ns[source]);
	}
	time_heap_exit(&heap);
}

TEST(test_a_source_that_ends_leaves_the_others_in_order)
{
	struct time_heap heap;
	unsigned int i;

	ck_assert_int_eq(time_heap_init(&heap, NR_SOURCES), 0);
	for (i = 0; i < NR_SOURCES; i++)
		time_heap_add(&heap, i * 7 % NR_SOURCES, i);
	for (i = 0; i < NR_SOURCES; i++) {
		ck_assert_uint_eq(time_heap_first(&heap) * 7 % NR_SOURCES, i);
		time_heap_remove_first(&heap);
	}
	ck_assert_uint_eq(heap.count, 0);
	time_heap_exit(&heap);
}

TEST(test_at_equal_times_the_lowest_source_is_first)
{
	struct time_heap heap;
	unsigned int i;

	ck_assert_int_eq(time_heap_init(&heap, 5), 0);
	for (i = 5; i-- > 0;)
		time_heap_add(&heap, 3, i);
	for (i = 0; i < 5; i++) {
		ck_assert_uint_eq(time_heap_first(&heap), i);
		time_heap_remove_first(&heap);
	}
	time_heap_exit(&heap);
}
