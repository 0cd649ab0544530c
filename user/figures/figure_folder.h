/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures as files: NAME.csv, NAME.gnuplot, NAME.svg, NAME.png. They are made in a temporary
 * folder. When all are complete, the requested ones are renamed to their destination.
 */
#ifndef PFSTAT_USER_FIGURE_FOLDER_H
#define PFSTAT_USER_FIGURE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "figures/drawing.h"
#include "util/why.h"

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

#endif
