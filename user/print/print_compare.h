/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints two sides of recordings side by side. */
#ifndef PFSTAT_USER_PRINT_COMPARE_H
#define PFSTAT_USER_PRINT_COMPARE_H

#include "print/print_report.h"
#include "report/compare_report.h"
#include "report/report.h"

/* Several runs a side: then differences between runs are in the intervals. */
bool compare_has_runs(const struct compare_report *report);

/* "Total time in faults: …", one sentence with the verdict, to be freed; NULL: no memory. */
char *compare_sentence(const struct compare_report *report);

/* As a table, in the locale that there is. */
int compare_print_table(FILE *out, const struct compare_report *report);

/* All or nothing; in no locale but its own. 0 or a negative errno. */
int compare_print(FILE *out, enum report_format format, const struct compare_report *report);

#endif
