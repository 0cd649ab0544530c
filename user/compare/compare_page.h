/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_COMPARE_PAGE_H
#define PFSTAT_USER_COMPARE_PAGE_H

#include <stdio.h>

#include "compare/compare.h"
#include "figures/drawing.h"

struct compare_page {
	const struct compare_report *report;
	const struct drawing *drawing;
	char *const *svgs; /* one figure, from gnuplot, NULL if not drawn */
};

/* Writes the whole page or nothing. 0 or a negative errno. */
int compare_page_print(FILE *out, const struct compare_page *page);

#endif
