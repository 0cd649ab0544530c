/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One measured run: everything that it needs is opened, and closed again; what
 * stays is the result.
 */
#ifndef PFSTAT_USER_RUN_H
#define PFSTAT_USER_RUN_H


#include "analyze/analysis.h"
#include "model/counters.h"
#include "report/report.h"
#include "run/run_options.h"
#include "system/cpus.h"
#include "workload/mapping.h"

struct contest;

/* A report, and what it points to. */
struct result {
	struct report report;
	struct competition *competition;	/* NULL: there was none */
	struct analysis *analysis;
	struct run_counters counters;
	struct measure measure;
};

struct run_plan {
	const struct options *options;
	const struct pattern *pattern;	/* fitted to the file */
	struct mapping *mapping;	/* open, not mapped */
	const char *name;		/* of it, in sentences */
	struct contest *contest;	/* who competes; NULL: nobody */
	const struct policy *policy;	/* told when the run begins; NULL: none */
	const struct cpus *cpus;		/* where pfdrive may run, but for the accesses */
	unsigned int number;		/* of this run, from 1 */
	explain_sink listener;		/* of every logical fault; NULL: none */
	void *listener_context;
};

/* STATUS_OK, or the exit status, after a complaint. */
int run_once(const struct run_plan *plan, struct result *result);
/* The instrument's own accounts must close; if not, nothing here can be trusted. */
int result_check(const struct result *result, unsigned int number);
void result_free(struct result *result);

#endif
