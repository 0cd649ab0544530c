/* SPDX-License-Identifier: GPL-2.0-only */
/* A run as the printers use it, with every figure printed by more than one of them. */
#ifndef PFSTAT_USER_VIEW_RUN_H
#define PFSTAT_USER_VIEW_RUN_H

#include "verdict/verdict.h"
#include "report/view.h"

/* The columns in the page-fault study (enum pfstat_column), and their sum. */
enum study_column {
	STUDY_DISK = PFSTAT_COLUMN_DISK,
	STUDY_SHORT = PFSTAT_COLUMN_SHORT,
	STUDY_LONG = PFSTAT_COLUMN_LONG,
	STUDY_ALL = PFSTAT_NR_COLUMNS,
	STUDY_NR_COLUMNS
};

struct view {
	const struct report *run;
	struct summary_figures figures;
	struct class_figures study[STUDY_NR_COLUMNS];
	struct class_figures every; /* all classes */
	struct verdict verdict;
	size_t nr_rows;	       /* how many rows in report->groups are printed */
	struct group left_out; /* sum over the groups not printed */
};

void view_run(struct view *view, const struct report *run);

#endif
