/* SPDX-License-Identifier: GPL-2.0-only */
/* Results for people and for programs. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_BENCH_PRINT_H
#define PFSTAT_USER_BENCH_PRINT_H

#include <stdio.h>

#include "bench/bench_results.h"

int bench_print_table(FILE *out, const struct bench_results *results);
int bench_print_csv(FILE *out, const struct bench_results *results);
int bench_print_json(FILE *out, const struct bench_results *results);

/* A report to be completed, in reStructuredText. */
int bench_print_report(FILE *out, const struct bench_results *results);

/* Operations by name; no rows are needed. */
int bench_print_list(FILE *out);

/* Three digits at least; n/a for NAN. */
void bench_figure_text(double value, char *text, size_t size);

#endif
