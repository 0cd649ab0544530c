// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule by which tables of bounded size fold entries; see folding.h. The result depends on the
 * entries only, not on their order in the array.
 */
#include <stdlib.h>

#include "util/folding.h"

/* Of equal entries a closed one is first, then the oldest. */
static int folding_lightest_first(const void *a, const void *b)
{
	const struct folding_entry *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight < right->weight ? -1 : 1;
	if (left->closed != right->closed)
		return left->closed ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static size_t folding_count_closed(const struct folding_entry *entries, size_t nr)
{
	size_t i, closed = 0;

	for (i = 0; i < nr; i++)
		closed += entries[i].closed;
	return closed;
}

/* Moves the closed entries to the front. */
static void folding_closed_first(struct folding_entry *entries, size_t nr)
{
	struct folding_entry entry;
	size_t i, front = 0;

	for (i = 0; i < nr; i++) {
		if (!entries[i].closed)
			continue;
		entry = entries[i];
		entries[i] = entries[front];
		entries[front++] = entry;
	}
}

size_t folding_choose(struct folding_entry *entries, size_t nr, uint64_t *floor)
{
	const size_t half = nr / 2;
	size_t closed;

	qsort(entries, nr, sizeof(*entries), folding_lightest_first);
	if (half && entries[half - 1].weight > *floor)
		*floor = entries[half - 1].weight;
	closed = folding_count_closed(entries, half);
	if (2 * closed < half || !closed)
		return half;
	folding_closed_first(entries, half);
	return closed;
}
