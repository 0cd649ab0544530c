/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as one HTML file, which loads nothing from elsewhere and runs no script. All text from a
 * recording is escaped.
 */
#ifndef PFSTAT_USER_HTML_H
#define PFSTAT_USER_HTML_H

#include <stdbool.h>

#include "figures/drawing.h"
#include "print/html/html_text.h"
#include "report/report.h"

struct html_page {
	const struct report *report; /* one run, already filled */
	const char *recording;	     /* path of the run's recording */
	const struct drawing *drawings;
	char *const *svgs; /* gnuplot's output, an entry is NULL if not drawn */
	size_t nr;
	const struct group *stacks; /* call paths of the faults */
	size_t nr_stacks;
};

/* A different kind of page. */
struct html_content {
	html_printer subject; /* the title, escaped */
	html_printer body;    /* a part in page.html starting like "run" */
	const void *context;  /* for both */
};

/* Prints a section for each drawing. @svgs: as in struct html_page. 0 or a negative errno. */
int html_print_figures(FILE *out, const struct drawing *drawings, char *const *svgs, size_t nr);
/* False if each path has only one frame, which the tables show. */
bool html_has_flame(const struct html_page *page);
/* Prints the section with the call paths. Returns 0 or -ENOMEM. */
int html_print_flame(FILE *out, const struct html_page *page);
/* Both write the whole page or nothing. Return 0 or a negative errno. */
int html_print_content(FILE *out, const struct html_content *content);
int html_print_report(FILE *out, const struct html_page *page);

#endif
