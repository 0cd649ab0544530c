/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All figures for a run, and what a command does with them: into a folder, into a page, or as text.
 */
#ifndef PFSTAT_USER_FIGURES_H
#define PFSTAT_USER_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "figures/drawing.h"
#include "figures/figure.h"
#include "util/why.h"

struct figures {
	void *data[FIGURES_NR];
	struct drawing drawings[FIGURES_NR]; /* valid after figures_draw() */
};

/* Registers with the analysis. Returns 0 or a negative errno. Call figures_close() in any case. */
int figures_open(struct figures *figures, struct analysis *analysis);
void figures_close(struct figures *figures);
/* Call it for each item, before the analysis consumes the item. */
int figures_item(struct figures *figures, const struct item *item);
int figures_draw(struct figures *figures, const struct figure_source *source);

/* A command's figures: into a folder, into a page, or as text. */

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

/*
 * Figures as files: NAME.csv, NAME.gnuplot, NAME.svg, NAME.png. They are made in a temporary
 * folder. When all are complete, the requested ones are renamed to their destination.
 */

struct figure_folder {
	const char *keep;	      /* destination, NULL if the files are read and removed */
	char *path;		      /* the temporary folder, NULL if not open */
	unsigned int gnuplot_seconds; /* limit for each figure, after which gnuplot is killed */
	bool no_gnuplot;	      /* gnuplot is not installed: only data and scripts exist */
	struct why why;		      /* why it failed, one clause */
};

/*
 * Creates `keep`, if it does not exist, and the temporary folder. All functions return 0 or a
 * negative errno.
 */
int figure_folder_open(struct figure_folder *folder, const char *keep);
/* Skips a figure marked as missing. */
int figure_folder_draw(struct figure_folder *folder, const struct drawing *drawings, size_t nr);
/* The caller frees *svg. */
int figure_folder_read(struct figure_folder *folder, const struct drawing *drawing, char **svg);
/* Replaces files with these names, and removes old files for figures that are missing now. */
int figure_folder_keep(struct figure_folder *folder, const struct drawing *drawings, size_t nr);
void figure_folder_close(struct figure_folder *folder);

/* The study's two figures, drawn in a terminal. */

/*
 * Reads the data of `order` or `cost` and draws it `width` columns wide. @unicode: the terminal
 * can show UTF-8. 0 or -ENOMEM.
 */
int ascii_plot_print(FILE *out, const struct drawing *drawing, unsigned int width, bool unicode);

#endif
