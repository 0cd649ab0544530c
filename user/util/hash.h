/* SPDX-License-Identifier: GPL-2.0-only */
/* A hash table, and the choice of the entries that a full table folds into one. */
#ifndef PFSTAT_USER_HASH_H
#define PFSTAT_USER_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maps 64-bit keys to pointers. Open addressing, at most half full. All zero is empty. The entry
 * order differs from process to process, so sort before printing.
 */

struct hash_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct hash {
	struct hash_slot *slots;
	size_t nr_slots; /* 0 or a power of two */
	size_t count;
};

/*
 * 64-bit key for other data: the bytes in a string or in a struct without padding. Different inputs
 * may get the same key. Valid in this process only.
 */
uint64_t hash_of(const void *key, size_t bytes);

/* NULL if the key is absent. */
void *hash_find(const struct hash *hash, uint64_t key);
/* The key must be absent. Returns 0 or -ENOMEM. */
int hash_add(struct hash *hash, uint64_t key, void *value);
/* Removes the entry and returns the value, or NULL if the key is absent. */
void *hash_take(struct hash *hash, uint64_t key);
/*
 * Visits in any order. A nonzero result from @visit stops and is returned. @visit must not add or
 * remove entries.
 */
int hash_visit(const struct hash *hash, int (*visit)(void *context, void *value), void *context);
/*
 * Like hash_visit(), in ascending order of keys, which must not come from hash_of(). Also
 * -ENOMEM.
 */
int hash_visit_sorted(const struct hash *hash, int (*visit)(void *context, void *value),
		      void *context);
/* Removes each entry for which keep() returns false. keep() frees it. -ENOMEM: nothing changed. */
int hash_filter(struct hash *hash, bool (*keep)(void *context, void *value), void *context);
/* Like hash_filter(), in ascending order of keys, which must not come from hash_of(). */
int hash_filter_sorted(struct hash *hash, bool (*keep)(void *context, void *value), void *context);
/* free_value may be NULL. */
void hash_exit(struct hash *hash, void (*free_value)(void *value));

/*
 * Chooses the entries that a full table folds into one, so the heavy ones stay in any order of
 * arrival: the summary by Misra and Gries.
 *
 * The owner keeps a floor, at first 0. An entry's weight is its own, plus the floor at admission,
 * so it is never below the weight of everything the entry ever had. A fold raises the floor to the
 * median weight: at least half the table loses this much, and only weights up to the floor are
 * folded. Therefore the floor is at most 2 / max of the weight of all entries, and no folded entry
 * has more than this.
 */

struct folding_entry {
	uint64_t weight;
	uint64_t number; /* distinct, in admission order */
	bool closed;	 /* it gets no more weight */
	void *value;
};

/*
 * Moves the entries to be folded to the front, in any order, and raises *floor. Returns their
 * number: half of all, or the closed ones among these if they are half of them. At least one if
 * there are two entries.
 */
size_t folding_choose(struct folding_entry *entries, size_t nr, uint64_t *floor);

#endif
