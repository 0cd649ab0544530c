/* SPDX-License-Identifier: GPL-2.0-only */
/* Two sides of recordings and their differences, as input for the printers. */
#ifndef PFSTAT_USER_COMPARE_REPORT_H
#define PFSTAT_USER_COMPARE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/comparison.h"
#include "util/subcommand.h"

struct compare_run {
	const char *file;
	uint64_t faults;
	uint64_t records, events;	    /* that the recording has */
	double seconds;			    /* duration of the recording, 0 if n/a */
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
	double confidence, threshold;	     /* in percent */
	/* print rates per second of recording instead of sums */
	bool rates;
	const json_t *differences; /* compare_heads() result */
};

extern const struct subcommand compare_command;

#endif
