/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a running measurement's counters as OpenMetrics text, for Prometheus' node exporter (the
 * textfile collector) and for every other reader of this format.
 */
#ifndef PFSTAT_USER_OPENMETRICS_H
#define PFSTAT_USER_OPENMETRICS_H

#include <stdio.h>

#include "report/report.h"

/* The faults for one label value. */
struct openmetrics_row {
	const char *value;	     /* any bytes */
	const struct report *report; /* filled, as of now */
};

struct openmetrics {
	const char *label, *value; /* what is watched, in samples outside the rows. Any bytes */
	const struct openmetrics_row *rows;
	size_t nr_rows;
	/* COUNT_NA: not known. */
	uint64_t watched_ns;
	uint64_t lost_records, lost_events;
	uint64_t own_cpu_ns;	 /* used by pfdrive itself */
	uint64_t own_peak_bytes; /* pfdrive's largest resident set */
};

/* 0 or a negative errno. */
int openmetrics_print(FILE *out, const struct openmetrics *metrics);

#endif
