/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison figure: ratios between two sides, with intervals. */
#ifndef PFSTAT_USER_FIG_COMPARE_H
#define PFSTAT_USER_FIG_COMPARE_H

#include "compare/compare.h"
#include "figures/drawing.h"

/* Calls drawing_begin() and drawing_end(). @sentence: the verdict in words. 0 or -ENOMEM. */
int fig_compare_draw(struct drawing *drawing, const struct compare_report *report,
		     const char *sentence);

#endif
