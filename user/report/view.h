/* SPDX-License-Identifier: GPL-2.0-only */
/* A run as the printers see it: every figure that more than one prints. */
#ifndef PFSTAT_USER_VIEW_H
#define PFSTAT_USER_VIEW_H

#include "report.h"

/* The columns of the page-fault study, sums of classes (see <pfstat/record.h>). */
enum study_column {
	STUDY_DISK,
	STUDY_SHORT,
	STUDY_LONG,
	STUDY_ALL,	/* of these three: neither mkwrite, pass nor error */
	STUDY_NR_COLUMNS
};

struct view {
	const struct report *run;
	struct summary_figures figures;
	struct class_figures study[STUDY_NR_COLUMNS];
	struct class_figures every;	/* all classes */
};

struct spread {
	double mean;
	double stddev;	/* of a sample: divided by n - 1; 0 for one value */
};

void view_run(struct view *view, const struct report *run);

/* NAN when nothing was counted, or of nothing: it has no mean and no share. */
double view_mean_ns(const struct class_figures *figures);
double view_share(uint64_t part, uint64_t whole);

/* NAN when one of the values is. */
struct spread view_spread(const double *values, size_t nr);

bool view_unexplained(const struct difference *difference);

/* The name of enum pfstat_class as it is spelled everywhere. */
const char *view_class_name(enum pfstat_class class);

/* The system call's name, to be freed; NULL: unknown to this machine. */
char *view_syscall_name(uint32_t number);

#endif
