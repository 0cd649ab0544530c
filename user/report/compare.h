/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints two runs side by side. */
#ifndef PFSTAT_USER_COMPARE_H
#define PFSTAT_USER_COMPARE_H

#include "../correlate/comparison.h"
#include "report.h"

struct compare_run {
	const char *file;
	uint64_t faults;
	uint64_t lost_records, lost_events;	/* FACT_NONE: n/a */
	const char *damage;			/* one clause, or NULL */
};

struct compare_report {
	struct compare_run a, b;
	const struct comparison *comparison;	/* judged */
	double confidence, threshold;		/* percent */
};

/* As a table, in the locale that there is. */
int compare_print_table(FILE *out, const struct compare_report *report);

/* All or nothing; in no locale but its own. 0 or a negative errno. */
int compare_print(FILE *out, enum report_format format, const struct compare_report *report);

#endif
