/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts points in a plane's cells, in bounded memory for any number and range of points. If there
 * are too many columns, rows or cells, pairs of columns or rows are merged. Counts and sums stay
 * exact. Only the position becomes coarser.
 */
#ifndef PFSTAT_USER_BINS_H
#define PFSTAT_USER_BINS_H

#include <stddef.h>
#include <stdint.h>

struct bins_cell {
	uint64_t x, y; /* original column >> x_shift and row >> y_shift */
	uint64_t kind;
	uint64_t count; /* 0: the slot is free */
	uint64_t sum;	/* sum of the values */
	uint64_t x_sum; /* sum of the original columns */
};

struct bins {
	/* The caller sets these three. All other members start as 0. */
	uint64_t max_columns, max_rows;
	size_t max_cells;
	unsigned int x_shift, y_shift;
	uint64_t x_min, x_max, y_min, y_max;
	uint64_t count;		 /* points in all cells */
	struct bins_cell *slots; /* hash table with open addressing */
	size_t nr_slots, nr_cells;
};

void bins_exit(struct bins *bins);
/* -ENOMEM: nothing was added. */
int bins_add(struct bins *bins, uint64_t x, uint64_t y, uint64_t kind, uint64_t value);
/* Adds `nr` rows from y on, each with the value. */
int bins_add_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		  uint64_t value);
/* Adds to a cell's sum if the cell already has points; otherwise does nothing. */
void bins_note_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		    uint64_t value);
/*
 * Returns the cells sorted by kind, column and row, as an array of bins->nr_cells cells. The
 * caller frees it. NULL: no memory.
 */
struct bins_cell *bins_sorted(const struct bins *bins);

/* How many columns there are from the lowest x to the highest. */
uint64_t bins_columns(const struct bins *bins);

#endif
