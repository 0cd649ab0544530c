/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints two sides of recordings side by side. */
#ifndef PFSTAT_USER_PRINT_COMPARE_H
#define PFSTAT_USER_PRINT_COMPARE_H

#include <jansson.h>

#include "analyze/comparison.h"
#include "report/report.h"

struct compare_run {
	const char *file;
	uint64_t faults;
	double seconds;				/* that it was recorded for; 0: n/a */
	uint64_t lost_records, lost_events;	/* FACT_NONE: n/a */
	const char *damage;			/* one clause, or NULL */
};

struct compare_side {
	const struct compare_run *runs;
	size_t nr;
};

struct compare_report {
	struct compare_side a, b;
	const struct comparison *comparison;	/* judged */
	double confidence, threshold;		/* percent */
	bool rates;				/* per second of watching, instead of sums */
	const json_t *differences;		/* of compare_heads() */
};

/* Several runs a side: then differences between runs are in the intervals. */
bool compare_has_runs(const struct compare_report *report);

/* "Total time in faults: …", one sentence with the verdict, to be freed; NULL: no memory. */
char *compare_sentence(const struct compare_report *report);

/* As a table, in the locale that there is. */
int compare_print_table(FILE *out, const struct compare_report *report);

/* All or nothing; in no locale but its own. 0 or a negative errno. */
int compare_print(FILE *out, enum report_format format, const struct compare_report *report);

#endif
