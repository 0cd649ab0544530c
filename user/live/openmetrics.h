/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the counters of a running measurement as OpenMetrics text, for Prometheus' node exporter
 * (its textfile collector) and for every other reader of that format.
 */
#ifndef PFSTAT_USER_OPENMETRICS_H
#define PFSTAT_USER_OPENMETRICS_H

#include <stdio.h>

#include "report/report.h"

/* The faults of one value of the label. */
struct openmetrics_row {
	const char *value;	     /* any bytes */
	const struct report *report; /* filled, as of now */
};

struct openmetrics {
	const char *label,
		*value; /* what is watched, in samples that are not of a row. Any bytes */
	const struct openmetrics_row *rows;
	size_t nr_rows;
	/* COUNT_NA: not known. */
	uint64_t watched_ns;
	uint64_t lost_records, lost_events;
	uint64_t own_cpu_ns;	 /* of pfdrive itself */
	uint64_t own_peak_bytes; /* its largest resident set */
};

/* 0 or a negative errno. */
int openmetrics_print(FILE *out, const struct openmetrics *metrics);

#endif
