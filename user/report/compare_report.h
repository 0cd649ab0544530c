/* SPDX-License-Identifier: GPL-2.0-only */
/* Two sides of recordings and what differs between them, for the printers. */
#ifndef PFSTAT_USER_COMPARE_REPORT_H
#define PFSTAT_USER_COMPARE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/comparison.h"

struct compare_run {
	const char *file;
	uint64_t faults;
	double seconds;			    /* that it was recorded for; 0: n/a */
	uint64_t lost_records, lost_events; /* COUNT_NA: n/a */
	const char *damage;		    /* one clause, or NULL */
};

struct compare_side {
	const struct compare_run *runs;
	size_t nr;
};

struct compare_report {
	struct compare_side a, b;
	const struct comparison *comparison; /* judged */
	double confidence, threshold;	     /* percent */
	bool rates;			     /* per second of watching, instead of sums */
	const json_t *differences;	     /* of compare_heads() */
};

#endif
