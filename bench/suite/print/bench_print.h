/* SPDX-License-Identifier: GPL-2.0-only */
/* The printers for bench_results. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_BENCH_PRINT_H
#define PFSTAT_USER_BENCH_PRINT_H

#include <stdio.h>

#include "bench/suite/bench_results.h"

int bench_table_print(FILE *out, const struct bench_results *results);
int bench_csv_print(FILE *out, const struct bench_results *results);
int bench_json_print(FILE *out, const struct bench_results *results);

/* A report skeleton, in reStructuredText. */
int course_report_print(FILE *out, const struct bench_results *results);

/* All operations, with unit and title. */
int bench_table_print_list(FILE *out);

/* At least three significant digits, or "n/a" for NAN. */
void bench_table_figure(double value, char *text, size_t size);

#endif
