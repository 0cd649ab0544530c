/* SPDX-License-Identifier: GPL-2.0-only */
/* A command's figures: into a folder, into a page, or as text. */
#ifndef PFSTAT_USER_REPORT_FIGURES_H
#define PFSTAT_USER_REPORT_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "figures/drawing.h"

struct figures_options {
	const char *html; /* the page, NULL if none */
	const char *plot; /* a folder, - for text, or NULL if none */
};

#define FIGURES_KEY_HTML 5000
#define FIGURES_KEY_PLOT 5001
/* For an argp_option array. */
#define FIGURES_OPTIONS_HTML                                        \
	{                                                           \
		"html",                                             \
		FIGURES_KEY_HTML,                                   \
		"FILE",                                             \
		0,                                                  \
		"also write an HTML page with the figures to FILE", \
		4                                                   \
	}
#define FIGURES_OPTIONS_PLOT                                                \
	{ "plot",                                                           \
	  FIGURES_KEY_PLOT,                                                 \
	  "FOLDER",                                                         \
	  0,                                                                \
	  "also write the figures to this folder: SVG, PNG, data, scripts", \
	  4 }

bool report_figures_as_text(const struct figures_options *options);

/* Writes the page, given the figures as SVG (NULL: one that is not drawn). */
typedef int (*page_printer)(FILE *out, void *context, char *const *svgs);

/*
 * Draws the figures and writes the requested outputs. A page is written whole or not at all.
 * Returns the exit status.
 */
int report_figures_write(const struct figures_options *options, const struct drawing *drawings,
			 size_t nr, page_printer print_page, void *context);
/* The two of the study, as wide as the terminal. 0 or a negative errno. */
int report_figures_print_text(FILE *out, const struct drawing *drawings, size_t nr);

#endif
