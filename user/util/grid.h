/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table that is filled cell by cell, from left to right. Its columns are as wide as their widest
 * cells; nothing is ever truncated, because the width of the reader's terminal is not known.
 */
#ifndef PFSTAT_USER_GRID_H
#define PFSTAT_USER_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define GRID_WIDTH 100 /* columns of a page; only text is ever wrapped to fit it */

struct grid {
	char **headings;  /* see grid_open() */
	bool no_headings; /* set after grid_open(): they are not printed */
	size_t nr_columns, nr_rows, size;
	char **cells;	     /* of all rows; NULL: empty */
	const char **titles; /* of each cell, see grid_title(); NULL: none */
	size_t column;	     /* of the next cell */
	int err;	     /* the first error; later calls then have no effect */
};

/*
 * The first letter of a heading aligns its column: < left, > right. There is at least one; the
 * table has copies.
 */
void grid_open(struct grid *grid, const char *const *headings, size_t nr);
void grid_row(struct grid *grid);
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last cell is a short name: formats with enough space print this title before it. */
void grid_title(struct grid *grid, const char *title);

/*
 * Adds a cell with as many words as fit into @width columns, at least one. Returns the
 * rest, for a row of its own; "" if nothing is left.
 */
const char *grid_text(struct grid *grid, size_t width, const char *text);

/* For printers of other formats. */
bool grid_is_right(const struct grid *grid, size_t column);
const char *grid_heading(const struct grid *grid, size_t column);
const char *grid_at(const struct grid *grid, size_t row, size_t column);
/* NULL: the cell has none. */
const char *grid_title_at(const struct grid *grid, size_t row, size_t column);

/*
 * Until it is called with NULL, each table is passed to @take with the output stream
 * instead of being printed. For printers of other formats.
 */
typedef int (*grid_taker)(void *context, const struct grid *grid, FILE *out);
void grid_redirect(grid_taker take, void *context);

/* Prints and frees the table. Returns 0 or the first error. */
int grid_close(struct grid *grid, FILE *out);

#endif
