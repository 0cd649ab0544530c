// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures' colours, in the page's light and dark themes. Scripts use the light colours, and
 * html_svg.c replaces them by the variables.
 */
#include <math.h>

#include "figures/palette.h"
#include "util/array.h"

const struct palette_colour palette[] = {
	{ "--ink", COLOUR_BLACK, 0xf0f0f0 },
	{ "--blue", COLOUR_BLUE, 0x4aa3df },
	{ "--sky", COLOUR_SKY, 0x8fd0f7 },
	{ "--green", COLOUR_GREEN, 0x2fc79b },
	{ "--orange", COLOUR_ORANGE, 0xf2b233 },
	{ "--vermillion", COLOUR_VERMILLION, 0xf0803c },
	{ "--purple", COLOUR_PURPLE, 0xdf9cc2 },
	{ "--yellow", COLOUR_YELLOW, 0xf0e442 },
	{ "--wine", COLOUR_WINE, 0xb0608c },
	{ "--rose", COLOUR_ROSE, 0xe08593 },
	{ "--olive", COLOUR_OLIVE, 0xb9b958 },
	{ "--grey", COLOUR_GREY, 0x9a9a9a },
	{ "--grid", COLOUR_GRID, 0x4a4a4a },
	/* From near the paper's colour to near the ink's, in both themes. */
	{ "--level-0", 0xc6dbef, 0x16324a },
	{ "--level-1", 0x9ecae1, 0x1d4b70 },
	{ "--level-2", 0x6baed6, 0x2b6b9a },
	{ "--level-3", 0x4292c6, 0x4f95c6 },
	{ "--level-4", 0x2171b5, 0x8fc1e6 },
	{ "--level-5", 0x08306b, 0xe2f1fd },
};

const size_t palette_nr = ARRAY_SIZE(palette);

const uint32_t palette_levels[PALETTE_LEVELS] = { 0xc6dbef, 0x9ecae1, 0x6baed6,
						  0x4292c6, 0x2171b5, 0x08306b };

const struct palette_colour *palette_find(uint32_t rgb)
{
	size_t i;

	for (i = 0; i < palette_nr; i++)
		if (palette[i].light == rgb)
			return &palette[i];
	return NULL;
}

unsigned int palette_level(uint64_t count, uint64_t most)
{
	const unsigned int last = PALETTE_LEVELS - 1;
	unsigned int level;

	if (most <= PALETTE_LEVELS)
		return count ? count - 1 : 0;
	level = PALETTE_LEVELS * log(count) / log(most);
	return level < last ? level : last;
}
