/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures as grid cells, with one format for each kind of number. */
#ifndef PFSTAT_USER_CELLS_H
#define PFSTAT_USER_CELLS_H

#include <stdint.h>

#include "analyze/analysis.h"
#include "report/view.h"
#include "util/grid.h"

/* Prints n/a for COUNT_NA. */
void cell_count(struct grid *grid, uint64_t count);
/* Prints at least two digits, and three where the study would have printed 0.1. NAN: a dash. */
void cell_scaled(struct grid *grid, double value);
/* Prints per cent. A small share is never printed as 0. NAN: a dash. */
void cell_share(struct grid *grid, double share);
/* Prints mean ± standard deviation. @fine: with as many digits as the deviation needs. */
void cell_spread(struct grid *grid, struct spread spread, bool fine);
/* A figure in a sentence, with three digits or more, and never with an exponent. */
void cells_print_figure(FILE *out, double value);
/* With the final 0. */
#define CELLS_GROUP_NAME (4096 + FILESYSTEM_TEXT)
/*
 * The group's name. A file without a local disk has its file system after the name, in @text.
 */
const char *cells_group_name(char text[CELLS_GROUP_NAME], const struct group *group);
void cells_text(struct grid *grid, const char *text, unsigned int times);
/* Prints four cells in µs: the mean over count, p50, p99 and max. Prints dashes if count is 0. */
void cells_times(struct grid *grid, const struct part_figures *figures, uint64_t count);

#endif
