/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as a page: one file, that asks for nothing from elsewhere and runs no script.
 * Everything that came from a recording is escaped.
 */
#ifndef PFSTAT_USER_HTML_H
#define PFSTAT_USER_HTML_H

#include "figures/drawing.h"
#include "print/print_compare.h"
#include "report/report.h"

struct html_page {
	const struct report *report;		 /* of a run; filled */
	const char *recording;			 /* its file */
	const struct compare_report *comparison; /* or of two runs */
	const struct drawing *drawings;
	char *const *svgs; /* as gnuplot drew them; NULL: it is not drawn */
	size_t nr;
};

/* All or nothing. 0 or a negative errno. */
int html_print_report(FILE *out, const struct html_page *page);

#endif
