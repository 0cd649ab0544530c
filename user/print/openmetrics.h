/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the counters of a running measurement as OpenMetrics text, for Prometheus' node exporter
 * (its textfile collector) and for every other reader of that format.
 */
#ifndef PFSTAT_USER_OPENMETRICS_H
#define PFSTAT_USER_OPENMETRICS_H

#include <stdio.h>

#include "report/report.h"

struct openmetrics {
	const char *label, *value; /* of all samples: what is watched. Any bytes */
	uint64_t own_cpu_ns;	   /* of pfdrive itself */
	uint64_t own_peak_bytes;   /* its largest resident set */
};

/* @run: filled, as of now. 0 or a negative errno. */
int openmetrics_print(FILE *out, const struct report *run, const struct openmetrics *metrics);

#endif
