// SPDX-License-Identifier: GPL-2.0-only
/* Records from many rings leave the merge in time order, at the same cost per record. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "random.h"
#include "runner.h"
#include "user/collect/time_order.h"

#define RINGS_MAX  512
#define NR_RECORDS 25000

/* Rings in memory, with all records in a test. */
struct merge_test {
	struct record_ring rings[RINGS_MAX];
	struct pfstat_ring_header headers[RINGS_MAX];
	struct pfstat_record *data;
	struct record_merge merge;
	unsigned int nr_rings;
	uint64_t last_ns, passed;
	unsigned int last_ring;
	uint64_t stop_at; /* the sink fails at this record, 0 if never */
};

static struct merge_test *merge_test_begin(unsigned int nr_rings)
{
	struct merge_test *test = calloc(1, sizeof(*test));
	const uint64_t capacity = NR_RECORDS / nr_rings + 1;
	unsigned int i;

	ck_assert_ptr_nonnull(test);
	test->nr_rings = nr_rings;
	test->data = calloc(nr_rings * capacity, sizeof(*test->data));
	ck_assert_ptr_nonnull(test->data);
	for (i = 0; i < nr_rings; i++)
		test->rings[i] = (struct record_ring){
			.header = &test->headers[i],
			.data = test->data + i * capacity,
			.capacity = capacity,
		};
	ck_assert_int_eq(record_merge_init(&test->merge, test->rings, nr_rings), 0);
	return test;
}

static void merge_test_end(struct merge_test *test)
{
	record_merge_exit(&test->merge);
	free(test->data);
	free(test);
}

/* tid is the ring number. */
static void merge_test_put(struct merge_test *test, unsigned int number, uint64_t end_ns)
{
	struct record_ring *ring = &test->rings[number];
	struct pfstat_record *record = (void *)&ring->data[ring->limit];

	ck_assert_uint_lt(ring->limit, ring->capacity);
	record->start_ns = end_ns > 7 ? end_ns - 7 : 0;
	record->duration_ns = end_ns - record->start_ns;
	record->tid = number;
	record->sequence = ++ring->limit;
}

static int merge_test_take(void *context, const struct merged_record *merged)
{
	struct merge_test *test = context;
	const unsigned int ring = merged->record->tid;

	ck_assert_uint_ge(merged->ns, test->last_ns);
	ck_assert(merged->ns > test->last_ns || ring >= test->last_ring || !test->passed);
	ck_assert_uint_eq(merged->ns, merged->record->start_ns + merged->record->duration_ns);
	/* The writer must not reuse the space yet. */
	ck_assert_uint_lt(test->headers[ring].tail, merged->record->sequence);
	test->last_ns = merged->ns;
	test->last_ring = ring;
	return ++test->passed == test->stop_at ? -EIO : 0;
}

static int merge_test_pass(struct merge_test *test, uint64_t until_ns)
{
	return record_merge_pass(&test->merge, until_ns, merge_test_take, test);
}

/*
 * Puts NR_RECORDS into the rings, one each distance_ns on average. In bursts, 64 records of a ring
 * come one after the other.
 */
static void merge_test_fill(struct merge_test *test, uint64_t distance_ns, bool bursts)
{
	const uint64_t capacity = test->rings[0].capacity, range = 2 * test->nr_rings * distance_ns;
	uint64_t seed = 1, ns, i;
	unsigned int ring;

	for (ring = 0; ring < test->nr_rings; ring++) {
		ns = random_next(&seed) % range * (bursts ? 64 : 1);
		for (i = 0; i < capacity; i++) {
			merge_test_put(test, ring, ns);
			if (!bursts)
				ns += random_next(&seed) % range;
			else
				ns += (i + 1) % 64 ? distance_ns :
						     64 * (random_next(&seed) % range);
		}
	}
}

/* Returns the steps for 100 records. */
static uint64_t merge_test_steps(unsigned int nr_rings, uint64_t distance_ns, bool bursts)
{
	struct merge_test *test = merge_test_begin(nr_rings);
	uint64_t steps;
	unsigned int i;

	merge_test_fill(test, distance_ns, bursts);
	ck_assert_int_eq(merge_test_pass(test, UINT64_MAX), 0);
	ck_assert_uint_eq(test->passed, nr_rings * test->rings[0].capacity);
	for (i = 0; i < nr_rings; i++)
		ck_assert_uint_eq(test->headers[i].tail, test->rings[i].limit);
	steps = 100 * test->merge.steps / test->passed;
	merge_test_end(test);
	return steps;
}

/*
 * Includes distances so near that many times are equal, and so far that a window exceeds an hour.
 */
static const uint64_t distances_ns[] = { 1, 300, 100000, 1000000000 };

/* With a binary heap, random order makes it 4 times as many comparisons. */
TEST(test_a_record_of_128_cpus_costs_as_much_as_one_of_4)
{
	uint64_t few, many;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		few = merge_test_steps(4, distances_ns[i / 2], i % 2);
		many = merge_test_steps(128, distances_ns[i / 2], i % 2);
		ck_assert_uint_le(many, few + few / 10);
		ck_assert_uint_le(many, 1500);
	}
}

TEST(test_a_record_of_512_cpus_costs_as_much_as_one_of_4)
{
	const uint64_t few = merge_test_steps(4, 300, false);

	ck_assert_uint_le(merge_test_steps(512, 300, false), few + few / 10);
}

TEST(test_records_of_one_busy_cpu_are_not_sorted)
{
	ck_assert_uint_le(merge_test_steps(1, 300, false), 150);
}

TEST(test_later_records_wait_for_the_next_pass)
{
	struct merge_test *test = merge_test_begin(2);

	merge_test_put(test, 0, 100);
	merge_test_put(test, 0, 301);
	merge_test_put(test, 1, 200);
	merge_test_put(test, 1, 300);
	merge_test_put(test, 1, UINT64_MAX - 1);
	ck_assert_int_eq(merge_test_pass(test, 99), 0);
	ck_assert_uint_eq(test->passed, 0);
	ck_assert_int_eq(merge_test_pass(test, 300), 0);
	ck_assert_uint_eq(test->passed, 3);
	ck_assert_uint_eq(test->headers[0].tail, 1);
	ck_assert_uint_eq(test->headers[1].tail, 2);
	ck_assert_int_eq(merge_test_pass(test, UINT64_MAX), 0);
	ck_assert_uint_eq(test->passed, 5);
	merge_test_end(test);
}

/* No window is narrow enough for them, so they pass in several. */
TEST(test_more_records_of_one_nanosecond_than_a_window_holds_pass)
{
	struct merge_test *test = merge_test_begin(1);
	unsigned int i;

	for (i = 0; i < 5000; i++)
		merge_test_put(test, 0, 1000);
	merge_test_put(test, 0, 1001);
	ck_assert_int_eq(merge_test_pass(test, UINT64_MAX), 0);
	ck_assert_uint_eq(test->passed, 5001);
	merge_test_end(test);
}

TEST(test_an_error_of_the_sink_ends_the_pass)
{
	struct merge_test *test = merge_test_begin(4);

	merge_test_fill(test, 300, false);
	test->stop_at = 5;
	ck_assert_int_eq(merge_test_pass(test, UINT64_MAX), -EIO);
	ck_assert_uint_eq(test->passed, 5);
	merge_test_end(test);
}

TEST(test_a_torn_record_ends_the_pass)
{
	struct merge_test *test = merge_test_begin(2);

	merge_test_put(test, 0, 100);
	merge_test_put(test, 0, 200);
	merge_test_put(test, 1, 150);
	((struct pfstat_record *)test->rings[0].data)[1].sequence = 0;
	ck_assert_int_eq(merge_test_pass(test, UINT64_MAX), -EBADMSG);
	ck_assert_uint_eq(test->passed, 2);
	merge_test_end(test);
}
