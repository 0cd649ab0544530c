// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "figures/palette.h"

const struct palette_colour palette[] = {
	{ "--ink", PALETTE_BLACK, 0xf0f0f0 },
	{ "--blue", PALETTE_BLUE, 0x4aa3df },
	{ "--sky", PALETTE_SKY, 0x8fd0f7 },
	{ "--green", PALETTE_GREEN, 0x2fc79b },
	{ "--orange", PALETTE_ORANGE, 0xf2b233 },
	{ "--vermillion", PALETTE_VERMILLION, 0xf0803c },
	{ "--purple", PALETTE_PURPLE, 0xdf9cc2 },
	{ "--yellow", PALETTE_YELLOW, 0xf0e442 },
	{ "--grey", PALETTE_GREY, 0x9a9a9a },
	{ "--grid", PALETTE_GRID, 0x4a4a4a },
	/* From the paper's colour to the ink's, in either theme. */
	{ "--level-0", 0xc6dbef, 0x16324a },
	{ "--level-1", 0x9ecae1, 0x1d4b70 },
	{ "--level-2", 0x6baed6, 0x2b6b9a },
	{ "--level-3", 0x4292c6, 0x4f95c6 },
	{ "--level-4", 0x2171b5, 0x8fc1e6 },
	{ "--level-5", 0x08306b, 0xe2f1fd },
};

const size_t palette_nr = sizeof(palette) / sizeof(palette[0]);

const uint32_t palette_levels[PALETTE_LEVELS] = {
	0xc6dbef, 0x9ecae1, 0x6baed6, 0x4292c6, 0x2171b5, 0x08306b
};

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

const struct palette_mark *palette_class(enum fault_class class)
{
	static const struct palette_mark marks[NR_FAULT_CLASSES] = {
		[PFSTAT_CLASS_DISK] = { PALETTE_BLACK, 7, 0.48, '#' },
		[PFSTAT_CLASS_WAIT] = { PALETTE_BLACK, 9, 0.60, '#' },
		[PFSTAT_CLASS_READAHEAD] = { PALETTE_BLACK, 5, 0.40, '#' },
		[PFSTAT_CLASS_SHORT] = { PALETTE_GREY, 7, 0.30, '.' },
		[PFSTAT_CLASS_LONG] = { PALETTE_SKY, 5, 0.36, '.' },
		[PFSTAT_CLASS_AROUND] = { PALETTE_GREEN, 13, 0.48, '.' },
		[PFSTAT_CLASS_MKWRITE] = { PALETTE_VERMILLION, 1, 0.60, '.' },
		[PFSTAT_CLASS_PASS] = { PALETTE_GREY, 1, 0.36, '.' },
		[PFSTAT_CLASS_ERROR] = { PALETTE_VERMILLION, 2, 0.72, '.' },
		[PFSTAT_CLASS_LOCK] = { PALETTE_ORANGE, 4, 0.54, '.' },
		[PFSTAT_CLASS_RACED] = { PALETTE_GREY, 6, 0.42, '.' },
		[FAULT_FILE] = { PALETTE_BLUE, 15, 0.45, '.' },
		[FAULT_ANON] = { PALETTE_ORANGE, 11, 0.42, '.' },
		[FAULT_SWAP] = { PALETTE_VERMILLION, 8, 0.54, '.' },
		[FAULT_COW] = { PALETTE_PURPLE, 9, 0.45, '.' },
		[FAULT_OTHER] = { PALETTE_GREY, 10, 0.48, '.' },
	};

	return &marks[class];
}

uint32_t palette_part(enum part part)
{
	static const uint32_t colours[NR_PARTS] = {
		[PART_CPU_BEFORE] = PALETTE_BLUE, [PART_QUEUE] = PALETTE_YELLOW,
		[PART_DEVICE] = PALETTE_BLACK, [PART_FOREIGN] = PALETTE_PURPLE,
		[PART_BLOCKED] = PALETTE_VERMILLION, [PART_RUNQUEUE] = PALETTE_ORANGE,
		[PART_CPU_AFTER] = PALETTE_SKY, [PART_RESIDUE] = PALETTE_GREY,
	};

	return colours[part];
}

const enum fault_class palette_order[NR_FAULT_CLASSES] = {
	(enum fault_class)PFSTAT_CLASS_PASS, (enum fault_class)PFSTAT_CLASS_RACED, FAULT_OTHER,
	FAULT_ANON, FAULT_COW, FAULT_FILE,
	(enum fault_class)PFSTAT_CLASS_LONG, (enum fault_class)PFSTAT_CLASS_AROUND,
	(enum fault_class)PFSTAT_CLASS_SHORT, (enum fault_class)PFSTAT_CLASS_MKWRITE,
	(enum fault_class)PFSTAT_CLASS_LOCK, FAULT_SWAP,
	(enum fault_class)PFSTAT_CLASS_READAHEAD,
	(enum fault_class)PFSTAT_CLASS_WAIT, (enum fault_class)PFSTAT_CLASS_DISK,
	(enum fault_class)PFSTAT_CLASS_ERROR,
};
