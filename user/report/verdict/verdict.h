/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The answer of a report: the share of the run that page faults took, the places with most of
 * it, the causes with the numbers that prove them, and a remedy for each. Pure functions over a
 * filled report: no I/O, no clock, no globals. Documentation/user/verdict.rst describes the rules.
 */
#ifndef PFSTAT_USER_VERDICT_H
#define PFSTAT_USER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"

#define VERDICT_TEXT   400
#define VERDICT_CAUSES 2 /* the heaviest causes are kept */

struct verdict_cause {
	const char *rule;
	bool certain;  /* false: the remedy is the next measurement */
	double weight; /* share of the faults' time that the cause concerns */
	char text[VERDICT_TEXT];
	char remedy[VERDICT_TEXT];
};

struct verdict {
	bool known; /* false: the duration of the run is n/a, or 0 */
	uint64_t wall_ns, busy_ns;
	double share;  /* of the run's time with at least one thread in a fault */
	bool at_least; /* a part of the faults is not known */
	enum fault_class class;
	double class_share; /* of the faults' time, like the following */
	/* NULL: n/a. A file, or a mapping if most of the time is that of anonymous memory. */
	const struct group *place, *thread, *code;
	struct verdict_cause causes[VERDICT_CAUSES]; /* heaviest first */
	size_t nr_causes;
};

/* The verdict points into the report. */
void verdict_make(struct verdict *verdict, const struct report *run);

/* Prints the verdict as sentences, one in a line. */
void verdict_print(FILE *out, const struct verdict *verdict, const struct report *run);

/* Returns the costliest group that is not "(others)". NULL: none. */
const struct group *verdict_top(const struct report *run, enum group_by by);

#endif
