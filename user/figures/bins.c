// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts points in a plane's cells, for streaming figures. A cell covers a power of two of columns
 * and rows, which doubles when the plane is full, so memory is bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "figures/bins.h"
#include "util/hash.h"

#define FIRST_SLOTS 64

void bins_exit(struct bins *bins)
{
	free(bins->slots);
	bins->slots = NULL;
	bins->nr_slots = 0;
	bins->nr_cells = 0;
}

static size_t bins_slot_of(const struct bins_cell *cell, size_t nr_slots)
{
	const uint64_t key[] = { cell->x, cell->y, cell->kind };

	return hash_of(key, sizeof(key)) & (nr_slots - 1);
}

static struct bins_cell *bins_find(struct bins_cell *slots, size_t nr_slots,
				   const struct bins_cell *cell)
{
	size_t i = bins_slot_of(cell, nr_slots);

	while (slots[i].count &&
	       (slots[i].x != cell->x || slots[i].y != cell->y || slots[i].kind != cell->kind))
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

/* Moves all cells to new slots, and shifts their columns and rows. */
static int rebuild(struct bins *bins, size_t nr_slots, unsigned int x_by, unsigned int y_by)
{
	struct bins_cell *slots = calloc(nr_slots, sizeof(*slots)), *to, cell;
	size_t i, nr = 0;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < bins->nr_slots; i++) {
		cell = bins->slots[i];
		if (!cell.count)
			continue;
		cell.x >>= x_by;
		cell.y >>= y_by;
		to = bins_find(slots, nr_slots, &cell);
		nr += !to->count;
		cell.count += to->count;
		cell.sum += to->sum;
		cell.x_sum += to->x_sum;
		*to = cell;
	}
	free(bins->slots);
	bins->slots = slots;
	bins->nr_slots = nr_slots;
	bins->nr_cells = nr;
	return 0;
}

/* Merges pairs of columns, or of rows. */
static int bins_coarsen_x(struct bins *bins)
{
	int err = rebuild(bins, bins->nr_slots ?: FIRST_SLOTS, 1, 0);

	bins->x_shift += !err;
	return err;
}

static int bins_coarsen_y(struct bins *bins)
{
	int err = rebuild(bins, bins->nr_slots ?: FIRST_SLOTS, 0, 1);

	bins->y_shift += !err;
	return err;
}

/* Distance from the first to the last column. Their number would overflow for all 64 bits. */
static uint64_t columns_beyond_first(const struct bins *bins)
{
	return (bins->x_max >> bins->x_shift) - (bins->x_min >> bins->x_shift);
}

static uint64_t rows_beyond_first(const struct bins *bins)
{
	return (bins->y_max >> bins->y_shift) - (bins->y_min >> bins->y_shift);
}

uint64_t bins_columns(const struct bins *bins)
{
	return columns_beyond_first(bins) + 1;
}

static int fit_range(struct bins *bins, uint64_t x, uint64_t y, uint64_t y_last)
{
	int err = 0;

	if (!bins->count) {
		bins->x_min = x;
		bins->x_max = x;
		bins->y_min = y;
		bins->y_max = y_last;
	}
	if (x < bins->x_min)
		bins->x_min = x;
	if (x > bins->x_max)
		bins->x_max = x;
	if (y < bins->y_min)
		bins->y_min = y;
	if (y_last > bins->y_max)
		bins->y_max = y_last;
	while (!err && columns_beyond_first(bins) >= bins->max_columns)
		err = bins_coarsen_x(bins);
	while (!err && rows_beyond_first(bins) >= bins->max_rows)
		err = bins_coarsen_y(bins);
	return err;
}

/* Makes space for one more cell. At most three of four slots may be used. */
static int fit_cells(struct bins *bins)
{
	int err = 0;

	while (!err && bins->nr_cells >= bins->max_cells) {
		/* Coarsens the direction using more of the limit. */
		if ((double)(columns_beyond_first(bins) + 1) / bins->max_columns >=
		    (double)(rows_beyond_first(bins) + 1) / bins->max_rows)
			err = bins_coarsen_x(bins);
		else
			err = bins_coarsen_y(bins);
	}
	if (!err && 4 * (bins->nr_cells + 1) > 3 * bins->nr_slots)
		err = rebuild(bins, bins->nr_slots ? 2 * bins->nr_slots : FIRST_SLOTS, 0, 0);
	return err;
}

/* How many of the `nr` rows from y on fall into y's cell. */
static uint64_t rows_within(const struct bins *bins, uint64_t y, uint64_t nr)
{
	const uint64_t rest = (1ULL << bins->y_shift) - (y & ((1ULL << bins->y_shift) - 1));

	return nr < rest ? nr : rest;
}

int bins_add_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		  uint64_t value)
{
	struct bins_cell cell, *to;
	uint64_t rows;
	int err;

	err = fit_range(bins, x, y, y + nr - 1);
	for (; nr && !err; nr -= rows, y += rows) {
		err = fit_cells(bins);
		if (err)
			break;
		rows = rows_within(bins, y, nr);
		cell = (struct bins_cell){
			.x = x >> bins->x_shift,
			.y = y >> bins->y_shift,
			.kind = kind,
		};
		to = bins_find(bins->slots, bins->nr_slots, &cell);
		bins->nr_cells += !to->count;
		cell.count = to->count + rows;
		cell.sum = to->sum + value * rows;
		cell.x_sum = to->x_sum + x * rows;
		*to = cell;
		bins->count += rows;
	}
	return err;
}

int bins_add(struct bins *bins, uint64_t x, uint64_t y, uint64_t kind, uint64_t value)
{
	return bins_add_rows(bins, x, y, 1, kind, value);
}

void bins_note_rows(struct bins *bins, uint64_t x, uint64_t y, uint64_t nr, uint64_t kind,
		    uint64_t value)
{
	struct bins_cell cell, *at;
	uint64_t rows;

	if (!bins->nr_slots)
		return;
	for (; nr; nr -= rows, y += rows) {
		rows = rows_within(bins, y, nr);
		cell = (struct bins_cell){
			.x = x >> bins->x_shift,
			.y = y >> bins->y_shift,
			.kind = kind,
		};
		at = bins_find(bins->slots, bins->nr_slots, &cell);
		if (at->count)
			at->sum += value * rows;
	}
}

static int in_order(const void *a, const void *b)
{
	const struct bins_cell *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->x != right->x)
		return left->x < right->x ? -1 : 1;
	return left->y < right->y ? -1 : left->y > right->y;
}

struct bins_cell *bins_sorted(const struct bins *bins)
{
	struct bins_cell *cells = calloc(bins->nr_cells + 1, sizeof(*cells));
	size_t i, nr = 0;

	if (!cells)
		return NULL;
	for (i = 0; i < bins->nr_slots; i++)
		if (bins->slots[i].count)
			cells[nr++] = bins->slots[i];
	qsort(cells, nr, sizeof(*cells), in_order);
	return cells;
}
