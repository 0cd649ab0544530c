/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef PFSTAT_USER_FOLDING_H
#define PFSTAT_USER_FOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
