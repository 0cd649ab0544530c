/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints two sides of recordings next to each other. */
#ifndef PFSTAT_USER_COMPARE_PRINT_H
#define PFSTAT_USER_COMPARE_PRINT_H

#include "compare/compare.h"
#include "print/print_report.h"
#include "report/report.h"

/*
 * Returns "Total time in faults: …", one sentence with the verdict. The caller frees it. NULL: no
 * memory.
 */
char *compare_print_sentence(const struct compare_report *report);

/* Returns ", if …", the condition under which the confidence holds, or "". */
const char *compare_print_condition(const struct compare_report *report);

/* Prints the table in the current locale. */
int compare_print_table(FILE *out, const struct compare_report *report);

/* Prints all or nothing, independent of the locale. 0 or a negative errno. */
int compare_print(FILE *out, enum report_format format, const struct compare_report *report);

#endif
