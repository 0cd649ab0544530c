/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the figures `heat` and `readahead`: boxes of pages over time. */
#ifndef PFSTAT_USER_PAGE_MAP_H
#define PFSTAT_USER_PAGE_MAP_H

#include <inttypes.h>
#include <stdio.h>

#include "figures/bins.h"

/* Number of boxes, each several pixels wide and high; DRAWING_WIDTH cannot show more. */
#define MAP_COLUMNS 96
#define MAP_ROWS    48

/* Sets the range of pages, rounded to whole boxes. */
static inline void map_page_range(FILE *script, const struct bins *bins)
{
	fprintf(script, "set yrange [%" PRIu64 ":%" PRIu64 "] noextend\n",
		bins->y_min >> bins->y_shift << bins->y_shift,
		((bins->y_max >> bins->y_shift) + 1) << bins->y_shift);
}

#define MAP_BINS \
	{ .max_columns = MAP_COLUMNS, .max_rows = MAP_ROWS, .max_cells = MAP_COLUMNS * MAP_ROWS }

#endif
