/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the figures `heat` and `readahead`: boxes with pages over time. */
#ifndef PFSTAT_USER_PAGE_MAP_H
#define PFSTAT_USER_PAGE_MAP_H

#include <inttypes.h>
#include <stdio.h>

#include "figures/bins.h"
#include "figures/drawing.h"

/* Number of boxes, each several pixels wide and high. DRAWING_WIDTH cannot show more. */
#define MAP_COLUMNS 96
#define MAP_ROWS    48

/*
 * A box is drawn at least this wide, as a part of the longest time in the figure. One file's faults
 * may be few and late, and a box narrower than a pixel would not be visible.
 */
#define MAP_LEAST_WIDTH 0.004

/*
 * Page numbers in memory come from addresses and are too long for labels. So memory pages count
 * from the first row, and file pages from the start of the file.
 */
static inline uint64_t map_first_page(const struct bins *bins, uint64_t inode)
{
	return inode ? 0 : bins->y_min >> bins->y_shift << bins->y_shift;
}

/* Names the page axis, which counts from `first`. */
static inline void map_page_label(FILE *script, uint64_t first, uint64_t page_bytes)
{
	if (first)
		fprintf(script, "set ylabel 'page, from address %#" PRIx64 " on'\n",
			first * page_bytes);
	else
		fputs("set ylabel 'file page'\n", script);
}

/* Sets the page range, rounded to whole boxes, which count from `first`. */
static inline void map_page_range(FILE *script, const struct bins *bins, uint64_t first)
{
	axes_whole(script, 'y', (bins->y_min >> bins->y_shift << bins->y_shift) - first,
		   (((bins->y_max >> bins->y_shift) + 1) << bins->y_shift) - first);
}

#define MAP_BINS \
	{ .max_columns = MAP_COLUMNS, .max_rows = MAP_ROWS, .max_cells = MAP_COLUMNS * MAP_ROWS }

#endif
