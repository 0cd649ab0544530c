/* SPDX-License-Identifier: GPL-2.0-only */
/* A libsmartcols table that is filled cell by cell, from left to right. */
#ifndef PFSTAT_USER_TABLE_GRID_H
#define PFSTAT_USER_TABLE_GRID_H

#include <libsmartcols.h>
#include <stddef.h>
#include <stdio.h>

#define GRID_WIDTH 100 /* columns of a page; only text is ever wrapped to fit it */

struct grid {
	struct libscols_table *table;
	struct libscols_line *line;
	size_t column;
	int err; /* the first one; the rest is then ignored */
};

/* A heading's first letter says how its column is aligned: < left, > right. */
void grid_open(struct grid *grid, const char *const *headings, size_t nr);
void grid_row(struct grid *grid);
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A cell with as many words as `width` columns hold, at least one. Returns the
 * rest, to go into a row of its own; "" when there is none.
 */
const char *grid_text(struct grid *grid, size_t width, const char *text);

/*
 * From here on, until NULL: a table that is closed is not printed but given to take(), with
 * the stream where it would have been printed. For printers of other formats.
 */
typedef int (*grid_taker)(void *context, struct libscols_table *table, FILE *out);
void grid_redirect(grid_taker take, void *context);

/* Prints, frees; 0 or the first error of all. */
int grid_close(struct grid *grid, FILE *out);

#endif
