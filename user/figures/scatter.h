/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the study's two figures: marks by class over the number of the call. */
#ifndef PFSTAT_USER_SCATTER_H
#define PFSTAT_USER_SCATTER_H

#include "analyze/fault/explain.h"
#include "figures/bins.h"
#include "figures/drawing.h"

/*
 * Upper limits for marks. Each mark is two to five pixels wide. With more of them, marks in a
 * figure of DRAWING_WIDTH would cover each other.
 */
#define SCATTER_COLUMNS 8192
#define SCATTER_ROWS	4096
#define SCATTER_MARKS	8000

#define SCATTER_BINS \
	{ .max_columns = SCATTER_COLUMNS, .max_rows = SCATTER_ROWS, .max_cells = SCATTER_MARKS }

/* Adds the classes to the key. */
void scatter_key(struct drawing *drawing, const struct bins *bins);

/* Prints "N calls in M marks", and whether a mark is one call or a range of numbers and rows. */
void scatter_amount(struct drawing *drawing, const struct bins *bins, const char *row);
/*
 * Prints the plot command. Columns are given as gnuplot expressions, the class as `class`. Disk
 * faults are plotted last, so that they are on top.
 */
void scatter_plot(struct drawing *drawing, const struct bins *bins, const char *x, const char *y,
		  unsigned int class_column);

#endif
