/* SPDX-License-Identifier: GPL-2.0-only */
/* Two runs side by side: how many times as much, with intervals. */
#ifndef PFSTAT_USER_COMPARE_FIGURE_H
#define PFSTAT_USER_COMPARE_FIGURE_H

#include "../report/compare.h"
#include "drawing.h"

/* Begins and ends the drawing. 0 or -ENOMEM. */
int compare_figure(struct drawing *drawing, const struct compare_report *report);

#endif
