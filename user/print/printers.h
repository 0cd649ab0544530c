/* SPDX-License-Identifier: GPL-2.0-only */
/* One printer for each format. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_PRINTERS_H
#define PFSTAT_USER_PRINTERS_H

#include "report/view.h"

int table_print(FILE *out, const struct view *views, size_t nr);
int csv_print(FILE *out, const struct view *views, size_t nr);
/* Only for a run with groups, which are call paths. */
int folded_print(FILE *out, const struct view *view);
int json_print(FILE *out, const struct view *views, size_t nr);

#endif
