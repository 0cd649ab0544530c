/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints two sides of recordings next to each other: text, CSV, JSON, a figure and a page. */
#ifndef PFSTAT_APPS_COMPARE_PRINT_H
#define PFSTAT_APPS_COMPARE_PRINT_H

#include <stdio.h>

#include "compare/compare.h"
#include "figures/drawing.h"
#include "print/print_report.h"
#include "report/report.h"

/*
 * Returns "Total time in faults: …", one sentence with the verdict. The caller frees it. NULL: no
 * memory.
 */
char *compare_print_sentence(const struct compare_report *report);

/* Returns ", if …", the condition under which the confidence holds, or "". */
const char *compare_print_condition(const struct compare_report *report);

/* Prints all or nothing, independent of the locale. 0 or a negative errno. */
int compare_print(FILE *out, enum report_format format, const struct compare_report *report);

/* The comparison figure: ratios between two sides, with intervals. */

/* Calls drawing_begin() and drawing_end(). @sentence: the verdict in words. 0 or -ENOMEM. */
int fig_compare_draw(struct drawing *drawing, const struct compare_report *report,
		     const char *sentence);

struct compare_page {
	const struct compare_report *report;
	const struct drawing *drawing;
	char *const *svgs; /* one figure, from gnuplot, NULL if not drawn */
};

/* Writes the whole page or nothing. 0 or a negative errno. */
int compare_page_print(FILE *out, const struct compare_page *page);

#endif
