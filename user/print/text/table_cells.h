/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures as cells of a grid: one way to print each kind of number. */
#ifndef PFSTAT_USER_TABLE_CELLS_H
#define PFSTAT_USER_TABLE_CELLS_H

#include <stdint.h>

#include "analyze/analysis.h"
#include "report/view.h"
#include "util/table_grid.h"

/* COUNT_NA: n/a. */
void cell_count(struct grid *grid, uint64_t count);
/* Two digits at least, three where the study would have printed 0.1; NAN: a dash. */
void cell_scaled(struct grid *grid, double value);
/* In per cent; a small one is never printed as 0. NAN: a dash. */
void cell_share(struct grid *grid, double share);
/* mean ± standard deviation; fine: as many digits as the deviation needs to be seen. */
void cell_spread(struct grid *grid, struct spread spread, bool fine);
void cells_text(struct grid *grid, const char *text, unsigned int times);
/* Four cells: the mean of that many, p50, p99, max, in µs; dashes when there are none. */
void cells_times(struct grid *grid, const struct part_figures *figures, uint64_t count);

#endif
