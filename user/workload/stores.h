/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which accesses in a pattern store: a given share, spread evenly, starting with a store. A
 * share of one eighth stores at accesses 0, 8, 16, ... Of n accesses 1 + floor((n
 * - 1) * share) are stores, unless the share is 0.
 */
#ifndef PFSTAT_USER_STORES_H
#define PFSTAT_USER_STORES_H

#include <stdbool.h>
#include <stdint.h>

/* Unit for shares: this value means every access. */
#define STORES_ALL (1ULL << 32)

struct stores {
	uint64_t share;
	uint64_t sum;
};

/* Parses "0.125", "12.5%", "1", "0": from 0 to 1, in decimal digits. -EINVAL, -ERANGE. */
int stores_parse(const char *text, uint64_t *share);

static inline struct stores stores_begin(uint64_t share)
{
	return (struct stores){ .share = share, .sum = share ? STORES_ALL - share : 0 };
}

/* True if the next access is a store. */
static inline __attribute__((always_inline)) bool stores_next(struct stores *stores)
{
	stores->sum += stores->share;
	if (stores->sum < STORES_ALL)
		return false;
	stores->sum -= STORES_ALL;
	return true;
}

#endif
