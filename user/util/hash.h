/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pointers found by a number. Open addressing, at most half full; all zero is empty.
 * The order of a table differs from process to process: sort before printing.
 */
#ifndef PFSTAT_USER_HASH_H
#define PFSTAT_USER_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * The 64-bit key of anything else: bytes of a struct without padding, or of a string. Two
 * different inputs may have the same key. It is valid in this process only.
 */
uint64_t hash_of(const void *key, size_t bytes);

/* NULL: it is not there. */
void *hash_find(const struct hash *hash, uint64_t key);
/* The key must not be there. -ENOMEM. */
int hash_add(struct hash *hash, uint64_t key, void *value);
/* Removes and returns; NULL: it was not there. */
void *hash_take(struct hash *hash, uint64_t key);
/* In no order; ends when visit does not return 0, with that. Visit must not add or take. */
int hash_visit(const struct hash *hash, int (*visit)(void *context, void *value), void *context);
/* The same by ascending keys, which the caller chose itself. -ENOMEM. */
int hash_visit_sorted(const struct hash *hash, int (*visit)(void *context, void *value),
		      void *context);
/* Those that keep() does not want are no longer there; it has freed them. -ENOMEM: all stay. */
int hash_filter(struct hash *hash, bool (*keep)(void *context, void *value), void *context);
void hash_exit(struct hash *hash, void (*free_value)(void *value));

#endif
