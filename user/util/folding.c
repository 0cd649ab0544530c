// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule by which tables with a bounded size fold entries, see folding.h. The result depends on
 * the entries only, not on their order in the array.
 */
#include <stdlib.h>

#include "util/folding.h"

/* Among entries with the same weight a closed one is first, then the oldest. */
static int folding_closed_then_oldest(const void *a, const void *b)
{
	const struct folding_entry *left = a, *right = b;

	if (left->closed != right->closed)
		return left->closed ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/*
 * Returns the weight of the entry at `rank` in the order of weights. Finds one byte of the weight
 * after the other, so the time is linear for any weights.
 */
static uint64_t folding_weight_at(const struct folding_entry *entries, size_t nr, size_t rank)
{
	uint64_t weight = 0, known = 0, byte;
	unsigned int shift = 64;
	size_t i;

	while (shift) {
		size_t counts[256] = { 0 };

		shift -= 8;
		for (i = 0; i < nr; i++)
			if ((entries[i].weight & known) == weight)
				counts[entries[i].weight >> shift & 0xff]++;
		for (byte = 0; rank >= counts[byte]; byte++)
			rank -= counts[byte];
		weight |= byte << shift;
		known |= 0xffULL << shift;
	}
	return weight;
}

static void folding_swap(struct folding_entry *one, struct folding_entry *other)
{
	const struct folding_entry entry = *one;

	*one = *other;
	*other = entry;
}

/* Moves the lighter entries to the front, and the heavier ones to the end. Sorts the others. */
static void folding_part_at(struct folding_entry *entries, size_t nr, uint64_t weight)
{
	size_t lighter = 0, i = 0, heavier = nr;

	while (i < heavier) {
		if (entries[i].weight < weight)
			folding_swap(&entries[lighter++], &entries[i++]);
		else if (entries[i].weight > weight)
			folding_swap(&entries[i], &entries[--heavier]);
		else
			i++;
	}
	qsort(entries + lighter, heavier - lighter, sizeof(*entries), folding_closed_then_oldest);
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
	size_t i, front = 0;

	for (i = 0; i < nr; i++)
		if (entries[i].closed)
			folding_swap(&entries[i], &entries[front++]);
}

size_t folding_choose(struct folding_entry *entries, size_t nr, uint64_t *floor)
{
	const size_t half = nr / 2;
	uint64_t weight;
	size_t closed;

	if (!half)
		return 0;
	weight = folding_weight_at(entries, nr, half - 1);
	folding_part_at(entries, nr, weight);
	if (weight > *floor)
		*floor = weight;
	closed = folding_count_closed(entries, half);
	if (2 * closed < half || !closed)
		return half;
	folding_closed_first(entries, half);
	return closed;
}
