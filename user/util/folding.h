/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chooses the entries of a full table that are folded into one, so that the heavy ones stay in any
 * order of arrival: the summary by Misra and Gries.
 *
 * The owner keeps a floor, at first 0. The weight of an entry is its own, plus the floor at its
 * admission, so it is never below the weight of all that the entry ever had. A fold raises the
 * floor to the median weight: at least half of the table loses that much, and only weights up to
 * the floor are folded. Therefore the floor is at most 2 / max of the weight of all entries, and
 * no entry has more than that among the folded ones.
 */
#ifndef PFSTAT_USER_FOLDING_H
#define PFSTAT_USER_FOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folding_entry {
	uint64_t weight;
	uint64_t number; /* distinct, in the order of admission */
	bool closed;	 /* it gets no more weight */
	void *value;
};

/*
 * Moves those to be folded to the front, in any order, and raises *floor. Returns their number:
 * half of all, or the closed ones among these if they are half of them. At least one if there are
 * two entries.
 */
size_t folding_choose(struct folding_entry *entries, size_t nr, uint64_t *floor);

#endif
