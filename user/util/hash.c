// SPDX-License-Identifier: GPL-2.0-only
/* Hash tables, and the rule by which tables with a bounded size fold entries. */
#define XXH_INLINE_ALL
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <xxhash.h>

#include "util/hash.h"

/*
 * A hash table with linear probing. Recordings are untrusted: an author with knowledge of the hash
 * function could choose keys that all collide. XXH3 with a per-process seed prevents this.
 */

#define FIRST_SLOTS 64

static uint64_t seed;

/* The kernel passes 16 random bytes to each process. */
__attribute__((constructor)) static void hash_choose_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(&seed, random, sizeof(seed));
}

uint64_t hash_of(const void *key, size_t bytes)
{
	return XXH3_64bits_withSeed(key, bytes, seed);
}

static size_t home_of(uint64_t key, size_t nr_slots)
{
	return hash_of(&key, sizeof(key)) & (nr_slots - 1);
}

/* The slot with the key, or the free slot for it. */
static struct hash_slot *hash_slot_of(struct hash_slot *slots, size_t nr_slots, uint64_t key)
{
	size_t i = home_of(key, nr_slots);

	while (slots[i].value && slots[i].key != key)
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

void *hash_find(const struct hash *hash, uint64_t key)
{
	return hash->nr_slots ? hash_slot_of(hash->slots, hash->nr_slots, key)->value : NULL;
}

static int hash_grow(struct hash *hash)
{
	size_t nr_slots = hash->nr_slots ? 2 * hash->nr_slots : FIRST_SLOTS, i;
	struct hash_slot *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < hash->nr_slots; i++)
		if (hash->slots[i].value)
			*hash_slot_of(slots, nr_slots, hash->slots[i].key) = hash->slots[i];
	free(hash->slots);
	hash->slots = slots;
	hash->nr_slots = nr_slots;
	return 0;
}

int hash_add(struct hash *hash, uint64_t key, void *value)
{
	int err;

	if (2 * hash->count >= hash->nr_slots) {
		err = hash_grow(hash);
		if (err)
			return err;
	}
	*hash_slot_of(hash->slots, hash->nr_slots, key) = (struct hash_slot){ key, value };
	hash->count++;
	return 0;
}

/* Move later entries in the probe sequence up, so no search stops too early. */
static void close_gap(struct hash *hash, size_t gap)
{
	const size_t mask = hash->nr_slots - 1;
	struct hash_slot *slots = hash->slots;
	size_t i = gap, home;

	for (;;) {
		i = (i + 1) & mask;
		if (!slots[i].value)
			break;
		home = home_of(slots[i].key, hash->nr_slots);
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		slots[gap] = slots[i];
		gap = i;
	}
	slots[gap].value = NULL;
}

void *hash_take(struct hash *hash, uint64_t key)
{
	struct hash_slot *slot;
	void *value;

	if (!hash->nr_slots)
		return NULL;
	slot = hash_slot_of(hash->slots, hash->nr_slots, key);
	value = slot->value;
	if (!value)
		return NULL;
	hash->count--;
	close_gap(hash, slot - hash->slots);
	return value;
}

int hash_visit(const struct hash *hash, int (*visit)(void *context, void *value), void *context)
{
	int err = 0;
	size_t i;

	for (i = 0; !err && i < hash->nr_slots; i++)
		if (hash->slots[i].value)
			err = visit(context, hash->slots[i].value);
	return err;
}

static int hash_by_key(const void *a, const void *b)
{
	const struct hash_slot *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* Returns the entries in ascending order of keys; the caller frees them. NULL: no memory. */
static struct hash_slot *hash_sorted(const struct hash *hash)
{
	struct hash_slot *sorted = calloc(hash->count + 1, sizeof(*sorted));
	size_t nr = 0, i;

	if (!sorted)
		return NULL;
	for (i = 0; i < hash->nr_slots; i++)
		if (hash->slots[i].value)
			sorted[nr++] = hash->slots[i];
	qsort(sorted, nr, sizeof(*sorted), hash_by_key);
	return sorted;
}

int hash_visit_sorted(const struct hash *hash, int (*visit)(void *context, void *value),
		      void *context)
{
	struct hash_slot *sorted = hash_sorted(hash);
	int err = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < hash->count && !err; i++)
		err = visit(context, sorted[i].value);
	free(sorted);
	return err;
}

/* Keeps those of the given entries for which keep() returns true. Free slots are skipped. */
static int hash_refill(struct hash *hash, const struct hash_slot *entries, size_t nr,
		       bool (*keep)(void *context, void *value), void *context)
{
	struct hash_slot *slots = calloc(hash->nr_slots, sizeof(*slots));
	size_t i;

	if (!slots)
		return -ENOMEM;
	hash->count = 0;
	for (i = 0; i < nr; i++) {
		if (!entries[i].value || !keep(context, entries[i].value))
			continue;
		*hash_slot_of(slots, hash->nr_slots, entries[i].key) = entries[i];
		hash->count++;
	}
	free(hash->slots);
	hash->slots = slots;
	return 0;
}

int hash_filter(struct hash *hash, bool (*keep)(void *context, void *value), void *context)
{
	return hash->nr_slots ? hash_refill(hash, hash->slots, hash->nr_slots, keep, context) : 0;
}

int hash_filter_sorted(struct hash *hash, bool (*keep)(void *context, void *value), void *context)
{
	struct hash_slot *sorted = hash->nr_slots ? hash_sorted(hash) : NULL;
	int err;

	if (!sorted)
		return hash->nr_slots ? -ENOMEM : 0;
	err = hash_refill(hash, sorted, hash->count, keep, context);
	free(sorted);
	return err;
}

void hash_exit(struct hash *hash, void (*free_value)(void *value))
{
	size_t i;

	for (i = 0; free_value && i < hash->nr_slots; i++)
		if (hash->slots[i].value)
			free_value(hash->slots[i].value);
	free(hash->slots);
	*hash = (struct hash){ 0 };
}

/* Folding. The result depends on the entries only, not on their order in the array. */

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
