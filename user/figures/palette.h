/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Colours that colour-blind readers can tell apart (M. Okabe, K. Ito, "Color Universal
 * Design", 2008), and marks that differ without colour. In a page each colour is a
 * variable, so that it follows the page's theme.
 */
#ifndef PFSTAT_USER_PALETTE_H
#define PFSTAT_USER_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"

struct palette_colour {
	const char *variable;	/* CSS, with its -- */
	uint32_t light, dark;	/* 0xRRGGBB */
};

extern const struct palette_colour palette[];
extern const size_t palette_nr;

/* NULL: it is none of them. rgb: as drawn, the light one. */
const struct palette_colour *palette_find(uint32_t rgb);

/* Darker is more. */
#define PALETTE_LEVELS 6
extern const uint32_t palette_levels[PALETTE_LEVELS];
/* Of 1 … most things: 0 … PALETTE_LEVELS - 1, by powers. */
unsigned int palette_level(uint64_t count, uint64_t most);

struct palette_mark {
	uint32_t rgb;
	unsigned int point;	/* gnuplot's point type */
	double size;
	char ascii;		/* in a terminal */
};

/* Disk faults are black, as in the study; they are drawn last. */
const struct palette_mark *palette_class(enum fault_class class);
uint32_t palette_part(enum part part);

/* Classes in the order in which they are drawn, what is on top last. */
extern const enum fault_class palette_order[NR_FAULT_CLASSES];

#define PALETTE_BLACK		0x000000
#define PALETTE_BLUE		0x0072b2
#define PALETTE_SKY		0x56b4e9
#define PALETTE_GREEN		0x009e73
#define PALETTE_ORANGE		0xe69f00
#define PALETTE_VERMILLION	0xd55e00
#define PALETTE_PURPLE		0xcc79a7
#define PALETTE_YELLOW		0xf0e442
#define PALETTE_GREY		0x8c8c8c
#define PALETTE_GRID		0xc0c0c0

#endif
