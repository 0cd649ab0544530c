/* SPDX-License-Identifier: GPL-2.0-only */
/* A report, and everything it points to. It outlives the measurement that made it. */
#ifndef PFSTAT_USER_RESULT_H
#define PFSTAT_USER_RESULT_H

#include <stdbool.h>

#include "analyze/analysis.h"
#include "model/counters.h"
#include "report/report.h"
#include "run/extras.h"

struct result {
	struct report report;
	struct report_study *study; /* what report.extras points to, NULL if there was none */
	struct analysis *analysis;
	struct run_counters counters;
	struct extras extras;
	bool filled; /* the report is filled */
	/* The recording lacks items or the end, as was reported. The report has the whole run. */
	bool recording_failed;
	char damage[512]; /* why the measurement is incomplete, "" if complete */
};

/* Everything is unknown or empty. */
void result_init(struct result *result);
/* The source's counts must match the source's records. If they do not, no figure can be trusted. */
int result_check(const struct result *result, unsigned int number);
/*
 * STATUS_FAILED if the recording failed. This is the status for a command whose report was printed.
 */
int result_status(const struct result *result);
void result_free(struct result *result);

#endif
