/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_BITMAP_H
#define PFSTAT_USER_BITMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct bitmap {
	uint64_t nr_bits;
	uint64_t words[];
};

static inline struct bitmap *bitmap_new(uint64_t nr_bits)
{
	struct bitmap *bitmap = calloc(1, sizeof(*bitmap) + (nr_bits + 63) / 64 * 8);

	if (bitmap)
		bitmap->nr_bits = nr_bits;
	return bitmap;
}

static inline void bitmap_free(struct bitmap *bitmap)
{
	free(bitmap);
}

/* Returns true if the bit was clear before. */
static inline bool bitmap_set(struct bitmap *bitmap, uint64_t bit)
{
	uint64_t *word = &bitmap->words[bit / 64];
	uint64_t mask = 1ULL << (bit % 64);
	bool fresh = !(*word & mask);

	*word |= mask;
	return fresh;
}

static inline bool bitmap_has(const struct bitmap *bitmap, uint64_t bit)
{
	return bitmap->words[bit / 64] >> (bit % 64) & 1;
}

static inline void bitmap_clear(struct bitmap *bitmap, uint64_t bit)
{
	bitmap->words[bit / 64] &= ~(1ULL << (bit % 64));
}

#endif
