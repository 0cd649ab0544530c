/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of a pattern's accesses store: a share of them, spread evenly, the first
 * one being a store. A share of one eighth is every eighth access: 0, 8, 16 …
 * Of n accesses 1 + floor((n - 1) * share) are stores, if the share is not 0.
 */
#ifndef PFSTAT_USER_STORE_MIX_H
#define PFSTAT_USER_STORE_MIX_H

#include <stdbool.h>
#include <stdint.h>

/* Shares are parts of this: 0 is none of the accesses, this is all of them. */
#define STORES_ALL (1ULL << 32)

struct stores {
	uint64_t share;
	uint64_t sum;
};

/* "0.125", "12.5%", "1", "0": from 0 to 1, in decimal digits. -EINVAL, -ERANGE. */
int stores_parse(const char *text, uint64_t *share);

static inline struct stores stores_begin(uint64_t share)
{
	return (struct stores){ .share = share, .sum = share ? STORES_ALL - share : 0 };
}

/* Is the next access a store? */
static inline __attribute__((always_inline)) bool stores_next(struct stores *stores)
{
	stores->sum += stores->share;
	if (stores->sum < STORES_ALL)
		return false;
	stores->sum -= STORES_ALL;
	return true;
}

#endif
