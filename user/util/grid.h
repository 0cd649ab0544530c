/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table that is filled cell by cell, from left to right. Columns are as wide as their widest
 * cells. Nothing is ever truncated: if the page is narrower, the widest text has several lines.
 */
#ifndef PFSTAT_USER_GRID_H
#define PFSTAT_USER_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define GRID_WIDTH 100 /* columns on a page that is not a terminal */

struct grid {
	char **headings;  /* see grid_open() */
	bool no_headings; /* set after grid_open(): they are not printed */
	size_t nr_columns, nr_rows, size;
	char **cells;	     /* for all rows, NULL if empty */
	const char **titles; /* for each cell, see grid_title(), NULL if none */
	size_t column;	     /* of the next cell */
	int err;	     /* the first error; later calls then have no effect */
};

/*
 * A heading's first letter aligns the column: < left, > right. There is at least one heading. The
 * table has copies.
 */
void grid_open(struct grid *grid, const char *const *headings, size_t nr);
void grid_row(struct grid *grid);
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last cell is a short name: formats with enough space print this title before it. */
void grid_title(struct grid *grid, const char *title);

/*
 * Adds a cell with as many words as fit into @width columns, at least one. Returns the rest, for a
 * separate row, or "" if nothing is left.
 */
const char *grid_text(struct grid *grid, size_t width, const char *text);

/* For printers of other formats. */
bool grid_is_right(const struct grid *grid, size_t column);
const char *grid_heading(const struct grid *grid, size_t column);
const char *grid_at(const struct grid *grid, size_t row, size_t column);
/* NULL: the cell has none. */
const char *grid_title_at(const struct grid *grid, size_t row, size_t column);

/*
 * Until called with NULL, it passes each table to @take with the output stream instead of printing.
 * For printers of other formats.
 */
typedef int (*grid_taker)(void *context, const struct grid *grid, FILE *out);
void grid_redirect(grid_taker take, void *context);

/*
 * Until called with 0, tables and sentences are as wide as a terminal with these columns. Otherwise
 * only sentences are wrapped, to GRID_WIDTH.
 */
void grid_set_width(size_t columns);
/* For sentences. */
size_t grid_width(void);

/* Prints and frees the table. Returns 0 or the first error. */
int grid_close(struct grid *grid, FILE *out);

#endif
