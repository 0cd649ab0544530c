/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points counted in the cells of a plane, in bounded memory, whatever their number and
 * range: where there are too many columns, rows or cells, two columns or two rows become
 * one. What is added stays counted; only where exactly it lay is forgotten.
 */
#ifndef PFSTAT_USER_BINS_H
#define PFSTAT_USER_BINS_H

#include <stddef.h>
#include <stdint.h>

struct bins_cell {
	uint64_t x, y; /* column and row: what they were, >> x_shift and >> y_shift */
	uint64_t kind;
	uint64_t count; /* 0: a free slot */
	uint64_t sum;	/* of the values */
	uint64_t x_sum; /* of the columns, before they were shifted */
};

struct bins {
	/* Its owner's; all else begins as 0. */
	uint64_t max_columns, max_rows;
	size_t max_cells;
	unsigned int x_shift, y_shift;
	uint64_t x_min, x_max, y_min, y_max;
	uint64_t count;		 /* of all cells */
	struct bins_cell *slots; /* open addressing */
	size_t nr_slots, nr_cells;
};

void bins_exit(struct bins *bins);
/* -ENOMEM; then nothing was added. */
int bins_add(struct bins *bins, uint64_t x, uint64_t y, uint64_t kind, uint64_t value);
/* The same of `nr` rows from y on, each with the value. */
int bins_add_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		  uint64_t value);
/* Adds to the values of a cell that something was added to; else nothing. */
void bins_note(struct bins *bins, uint64_t x, uint64_t y, uint64_t kind, uint64_t value);
void bins_note_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		    uint64_t value);
/*
 * The cells, by kind, column and row, as an array of bins->nr_cells that is the caller's
 * to free. NULL: no memory.
 */
struct bins_cell *bins_sorted(const struct bins *bins);

/* Makes two columns, or rows, one. */
int bins_coarsen_x(struct bins *bins);
int bins_coarsen_y(struct bins *bins);

/* Columns from that of the lowest x to that of the highest. */
uint64_t bins_columns(const struct bins *bins);

#endif
