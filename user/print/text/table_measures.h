/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for the extras. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_TABLE_MEASURES_H
#define PFSTAT_USER_TABLE_MEASURES_H

#include <stdio.h>

#include "print/view_run.h"

/* The requested tables, with an empty line before each. */
int table_measures(FILE *out, const struct report *run);
/* For several runs: means and standard deviations, then each run's tables that have none. */
int table_measures_of_runs(FILE *out, const struct view *views, size_t nr);

int table_maps(FILE *out, const struct map_list *maps);

#endif
