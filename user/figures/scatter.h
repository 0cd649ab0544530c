/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the study's two figures: marks by class over the number of a call. */
#ifndef PFSTAT_USER_SCATTER_H
#define PFSTAT_USER_SCATTER_H

#include "analyze/fault/explain.h"
#include "figures/bins.h"
#include "figures/drawing.h"

/*
 * Marks are what there may be no more of: each is two to five pixels wide, and in a figure
 * of DRAWING_WIDTH more would cover each other.
 */
#define SCATTER_COLUMNS 8192
#define SCATTER_ROWS	4096
#define SCATTER_MARKS	8000

#define SCATTER_BINS \
	{ .max_columns = SCATTER_COLUMNS, .max_rows = SCATTER_ROWS, .max_cells = SCATTER_MARKS }

/* "N calls in M marks": whether each is a call, or so many numbers and rows wide. */
void scatter_amount(struct drawing *drawing, const struct bins *bins, const char *row);
/*
 * The plot command: columns of the data as gnuplot expressions, the class in `class`.
 * Disk faults come last, to be on top.
 */
void scatter_plot(struct drawing *drawing, const struct bins *bins, const char *x, const char *y,
		  unsigned int class_column);

#endif
