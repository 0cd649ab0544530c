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

#define VERDICT_TEXT   480
#define VERDICT_CAUSES 3
#define VERDICT_NAME   256

/* Bit masks of 1 << enum fault_class and 1 << enum part: time of these parts in these classes. */
struct verdict_claim {
	uint32_t classes, parts;
};

struct verdict_cause {
	const char *rule;
	bool certain;		    /* false: the remedy is the next measurement */
	bool outside;		    /* a share of the time does not judge it: it comes first */
	bool general;		    /* it concerns all that the threads do, so it comes last */
	double weight;		    /* share of the faults' time that the cause concerns */
	struct verdict_claim claim; /* empty: no time that another rule may claim */
	char text[VERDICT_TEXT];
	char remedy[VERDICT_TEXT];
};

/* The function with most of the faults' time, over all its instructions. */
struct verdict_code {
	char name[VERDICT_NAME]; /* "function (object)"; "": not known */
	uint64_t total_ns;
};

struct verdict {
	bool known; /* false: the duration of the run is n/a, or 0 */
	uint64_t wall_ns, busy_ns;
	double share;	     /* of the run's time with at least one thread in a fault */
	double active_share; /* of the time that threads were active; NAN: not known */
	/* Of its activity, if it was idle for most of the run. NAN: it was not */
	double idle_share;
	bool small;    /* one of both is too small to matter, and no thread stands still */
	bool at_least; /* a part of the faults is not known */
	enum fault_class class;
	double class_share; /* of the faults' time, like the following */
	/* NULL: n/a. A file, or a mapping if most of the time is that of anonymous memory. */
	const struct group *place, *thread;
	struct verdict_code code;
	/* Certain causes first, then by weight. No time belongs to two of them. */
	struct verdict_cause causes[VERDICT_CAUSES];
	size_t nr_causes;
};

/* The verdict points into the report. */
void verdict_make(struct verdict *verdict, const struct report *run);

/* Prints the verdict as sentences, one in a line. */
void verdict_print(FILE *out, const struct verdict *verdict, const struct report *run);

/* Returns the costliest group that is not "(others)". NULL: none. */
const struct group *verdict_top(const struct report *run, enum group_by by);

#endif
