/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures as files: NAME.csv, NAME.gnuplot, NAME.svg, NAME.png. They are made in a
 * temporary folder; what is kept is renamed to where it belongs when all are there.
 */
#ifndef PFSTAT_USER_FIGURE_FOLDER_H
#define PFSTAT_USER_FIGURE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "figures/drawing.h"

struct folder {
	const char *keep; /* where the files go; NULL: nowhere, they are read and removed */
	char *path;	  /* the temporary one; NULL: not open */
	unsigned int gnuplot_seconds; /* after which it is killed, for each figure */
	bool no_gnuplot;	      /* it is not installed: only data and scripts were made */
	char why[512];		      /* of what failed: one clause */
};

/* Makes keep, if it is not there, and the temporary folder. All return 0 or a negative errno. */
int folder_open(struct folder *folder, const char *keep);
/* Nothing is drawn of a figure that is missing. */
int folder_draw(struct folder *folder, const struct drawing *drawings, size_t nr);
/* *svg is to be freed. */
int folder_read(struct folder *folder, const struct drawing *drawing, char **svg);
/* Replaces files of these names; those of figures that are missing now are removed. */
int folder_keep(struct folder *folder, const struct drawing *drawings, size_t nr);
void folder_close(struct folder *folder);

#endif
