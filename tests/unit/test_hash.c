// SPDX-License-Identifier: GPL-2.0-only
/* The hash table, compared with a plain array. */
#include <stdbool.h>

#include "random.h"
#include "runner.h"
#include "user/util/hash.h"

#define KEYS 512

static int count(void *context, void *value)
{
	(void)value;
	++*(size_t *)context;
	return 0;
}

static void no_free(void *value)
{
	(void)value;
}

TEST(test_random_operations_match_an_array)
{
	static char values[KEYS];
	bool there[KEYS] = { false };
	struct hash hash = { 0 };
	uint64_t state = 1, key;
	size_t nr = 0, visited, i;

	for (i = 0; i < 200000; i++) {
		/* Keys sharing their low bits, as pids and addresses do. */
		key = random_next(&state) % KEYS;
		if (there[key]) {
			ck_assert_ptr_eq(hash_find(&hash, key << 12), &values[key]);
			ck_assert_ptr_eq(hash_take(&hash, key << 12), &values[key]);
			nr--;
		} else {
			ck_assert_ptr_null(hash_find(&hash, key << 12));
			ck_assert_ptr_null(hash_take(&hash, key << 12));
			ck_assert_int_eq(hash_add(&hash, key << 12, &values[key]), 0);
			nr++;
		}
		there[key] = !there[key];
		ck_assert_uint_eq(hash.count, nr);
	}
	for (i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(hash_find(&hash, i << 12), there[i] ? &values[i] : NULL);
	visited = 0;
	hash_visit(&hash, count, &visited);
	ck_assert_uint_eq(visited, nr);
	ck_assert_uint_le(hash.nr_slots, 4 * KEYS);
	hash_exit(&hash, no_free);
}

static bool keep_even(void *context, void *value)
{
	return (*(char **)context - (char *)value) % 2 == 0;
}

TEST(test_filter_removes_the_rejected_entries)
{
	static char values[KEYS];
	const char *first = values;
	struct hash hash = { 0 };
	size_t i;

	ck_assert_int_eq(hash_filter(&hash, keep_even, &first), 0);
	for (i = 0; i < KEYS; i++)
		ck_assert_int_eq(hash_add(&hash, i << 12, &values[i]), 0);
	ck_assert_int_eq(hash_filter(&hash, keep_even, &first), 0);
	ck_assert_uint_eq(hash.count, KEYS / 2);
	for (i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(hash_find(&hash, i << 12), i % 2 ? NULL : &values[i]);
	hash_exit(&hash, no_free);
}

static bool keep_none_in_order(void *context, void *value)
{
	char **next = context;

	ck_assert_ptr_eq(value, (*next)++);
	return false;
}

TEST(test_sorted_filter_visits_the_entries_in_ascending_order_of_keys)
{
	static char values[KEYS];
	char *next = values;
	struct hash hash = { 0 };
	size_t i;

	ck_assert_int_eq(hash_filter_sorted(&hash, keep_none_in_order, &next), 0);
	for (i = KEYS; i-- > 0;)
		ck_assert_int_eq(hash_add(&hash, i << 12, &values[i]), 0);
	ck_assert_int_eq(hash_filter_sorted(&hash, keep_none_in_order, &next), 0);
	ck_assert_ptr_eq(next, values + KEYS);
	ck_assert_uint_eq(hash.count, 0);
	hash_exit(&hash, no_free);
}
