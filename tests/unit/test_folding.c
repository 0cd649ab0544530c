// SPDX-License-Identifier: GPL-2.0-only
/* The choice of folded entries, compared with a sorted array. */
#include <stdlib.h>

#include "random.h"
#include "runner.h"
#include "user/util/hash.h"

#define ENTRIES_MAX 300

static int lightest_first(const void *a, const void *b)
{
	const struct folding_entry *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight < right->weight ? -1 : 1;
	if (left->closed != right->closed)
		return left->closed ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static size_t choose_sorted(struct folding_entry *entries, size_t nr, uint64_t *floor)
{
	const size_t half = nr / 2;
	size_t closed = 0, i;

	qsort(entries, nr, sizeof(*entries), lightest_first);
	if (half && entries[half - 1].weight > *floor)
		*floor = entries[half - 1].weight;
	for (i = 0; i < half; i++)
		closed += entries[i].closed;
	if (2 * closed < half || !closed)
		return half;
	for (i = 0, closed = 0; i < half; i++)
		if (entries[i].closed)
			entries[closed++] = entries[i];
	return closed;
}

static int oldest_first(const void *a, const void *b)
{
	const struct folding_entry *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

/* One of `open` entries is closed. */
static void check_choice(size_t nr, uint64_t weights, unsigned int open, uint64_t *state)
{
	struct folding_entry entries[ENTRIES_MAX], sorted[ENTRIES_MAX];
	uint64_t floor = random_next(state) % weights, sorted_floor = floor;
	size_t folded, i;

	for (i = 0; i < nr; i++) {
		entries[i] = (struct folding_entry){
			.weight = random_next(state) % weights,
			.number = i + 1,
			.closed = random_next(state) % open == 0,
		};
		sorted[i] = entries[i];
	}
	folded = choose_sorted(sorted, nr, &sorted_floor);
	ck_assert_uint_eq(folding_choose(entries, nr, &floor), folded);
	ck_assert_uint_eq(floor, sorted_floor);
	qsort(sorted, folded, sizeof(*sorted), oldest_first);
	qsort(entries, folded, sizeof(*entries), oldest_first);
	for (i = 0; i < folded; i++)
		ck_assert_uint_eq(entries[i].number, sorted[i].number);
}

TEST(test_the_lightest_half_is_chosen)
{
	static const uint64_t weights[] = { 1, 3, 1000, 1 << 20, UINT64_MAX };
	uint64_t state = 1;
	size_t nr, i;
	unsigned int open;

	for (nr = 0; nr <= ENTRIES_MAX; nr++)
		for (i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
			for (open = 1; open <= 16; open *= 4)
				check_choice(nr, weights[i], open, &state);
}
