/* SPDX-License-Identifier: GPL-2.0-only */
/* In a page each colour is a variable, so that it follows the page's theme. */
#ifndef PFSTAT_USER_PALETTE_H
#define PFSTAT_USER_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "model/colour.h"

struct palette_colour {
	const char *variable; /* CSS variable, with its dashes */
	uint32_t light, dark; /* 0xRRGGBB */
};

extern const struct palette_colour palette[];
extern const size_t palette_nr;

/* Returns NULL if the palette has no such colour. @rgb: the light colour, as drawn. */
const struct palette_colour *palette_find(uint32_t rgb);

/* A darker level is a higher count. */
#define PALETTE_LEVELS 6
extern const uint32_t palette_levels[PALETTE_LEVELS];
/* Level 0 … PALETTE_LEVELS - 1 for a count from 1 to most, on a scale of powers. */
unsigned int palette_level(uint64_t count, uint64_t most);

#endif
