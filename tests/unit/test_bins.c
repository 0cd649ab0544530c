// SPDX-License-Identifier: GPL-2.0-only
/* Points in bins: no point is lost, whatever the range and the number of points. */
#include "random.h"
#include "runner.h"
#include "user/figures/bins.h"

static void add(struct bins *bins, uint64_t x, uint64_t y, uint64_t kind, uint64_t value)
{
	ck_assert_int_eq(bins_add(bins, x, y, kind, value), 0);
}

static struct bins_cell sum_of(const struct bins *bins)
{
	struct bins_cell sum = { 0 };
	size_t i;

	for (i = 0; i < bins->nr_slots; i++) {
		sum.count += bins->slots[i].count;
		sum.sum += bins->slots[i].sum;
		sum.x_sum += bins->slots[i].x_sum;
	}
	return sum;
}

TEST(test_few_points_stay_as_they_are)
{
	struct bins bins = { .max_columns = 100, .max_rows = 100, .max_cells = 100 };
	struct bins_cell *cells;

	add(&bins, 3, 1050, 1, 7);
	add(&bins, 3, 1050, 1, 9);
	add(&bins, 99, 1000, 0, 1);
	add(&bins, 3, 1050, 0, 2);
	ck_assert_uint_eq(bins.x_shift, 0);
	ck_assert_uint_eq(bins.y_shift, 0);
	ck_assert_uint_eq(bins.nr_cells, 3);
	cells = bins_sorted(&bins);
	ck_assert_ptr_nonnull(cells);
	/* Sorted by kind, column and row. */
	ck_assert_uint_eq(cells[0].x, 3);
	ck_assert_uint_eq(cells[0].kind, 0);
	ck_assert_uint_eq(cells[1].x, 99);
	ck_assert_uint_eq(cells[2].kind, 1);
	ck_assert_uint_eq(cells[2].count, 2);
	ck_assert_uint_eq(cells[2].sum, 16);
	ck_assert_uint_eq(cells[2].x_sum, 6);
	free(cells);
	bins_exit(&bins);
}

TEST(test_wide_ranges_become_coarse_in_their_direction)
{
	struct bins bins = { .max_columns = 8, .max_rows = 4, .max_cells = 32 };

	add(&bins, 0, 100, 0, 1);
	add(&bins, 8, 100, 0, 1);
	ck_assert_uint_eq(bins.x_shift, 1);
	ck_assert_uint_eq(bins.y_shift, 0);
	/* Rows count from the lowest one: a single high number is not a wide range. */
	add(&bins, 0, 103, 0, 1);
	ck_assert_uint_eq(bins.y_shift, 0);
	add(&bins, 0, UINT64_MAX, 0, 1);
	add(&bins, UINT64_MAX, 0, 0, 1);
	ck_assert_uint_le(bins.nr_cells, 32);
	ck_assert_uint_eq(sum_of(&bins).count, 5);
	bins_exit(&bins);
}

/* Columns also count from the first one, and a range may span all 64 bits. */
TEST(test_a_late_first_column_is_not_a_wide_range)
{
	struct bins bins = { .max_columns = 8, .max_rows = 4, .max_cells = 32 };

	add(&bins, 1000, 0, 0, 1);
	add(&bins, 1003, 0, 0, 1);
	add(&bins, 997, 0, 0, 1);
	ck_assert_uint_eq(bins.x_shift, 0);
	ck_assert_uint_eq(bins_columns(&bins), 7);
	bins_exit(&bins);

	bins = (struct bins){ .max_columns = 8, .max_rows = 4, .max_cells = 32 };
	add(&bins, 0, 0, 0, 1);
	add(&bins, UINT64_MAX, UINT64_MAX, 0, 1);
	ck_assert_uint_le(bins_columns(&bins), 8);
	ck_assert_uint_eq(bins.y_shift, 62);
	ck_assert_uint_eq(sum_of(&bins).count, 2);
	bins_exit(&bins);
}

/* Random points of three kinds: all are counted, and the number of cells stays bounded. */
TEST(test_many_points_are_all_counted)
{
	struct bins bins = { .max_columns = 512, .max_rows = 256, .max_cells = 500 };
	uint64_t state = 1, random, values = 0, columns = 0;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		random = random_next(&state);
		add(&bins, i, random & 0xfffff, random >> 40 & 1, random >> 50);
		values += random >> 50;
		columns += i;
		ck_assert_uint_le(bins.nr_cells, 500);
	}
	ck_assert_uint_eq(bins.count, 200000);
	ck_assert_uint_eq(sum_of(&bins).count, 200000);
	ck_assert_uint_eq(sum_of(&bins).sum, values);
	ck_assert_uint_eq(sum_of(&bins).x_sum, columns);
	/* The bins are not coarser than necessary: at least half of the cells are in use. */
	ck_assert_uint_ge(bins.nr_cells, 125);
	bins_exit(&bins);
}

TEST(test_a_note_goes_to_the_cell_that_now_holds_the_point)
{
	struct bins bins = { .max_columns = 4, .max_rows = 4, .max_cells = 16 };
	uint64_t x;

	for (x = 0; x < 64; x++)
		add(&bins, x, 0, 0, 0);
	for (x = 0; x < 64; x++)
		bins_note_rows(&bins, x, 0, 1, 0, 1);
	bins_note_rows(&bins, 0, 9, 1, 0, 100); /* no point was added there */
	bins_note_rows(&bins, 0, 0, 1, 1, 100);
	ck_assert_uint_eq(sum_of(&bins).sum, 64);
	for (x = 0; x < bins.nr_slots; x++)
		ck_assert_uint_eq(bins.slots[x].sum, bins.slots[x].count);
	bins_exit(&bins);
}

TEST(test_bins_without_values_are_empty)
{
	struct bins bins = { .max_columns = 4, .max_rows = 4, .max_cells = 16 };
	struct bins_cell *cells = bins_sorted(&bins);

	bins_note_rows(&bins, 0, 0, 1, 0, 1);
	ck_assert_ptr_nonnull(cells);
	ck_assert_uint_eq(bins.count, 0);
	free(cells);
	bins_exit(&bins);
}
