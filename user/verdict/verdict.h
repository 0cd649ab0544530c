/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report's answer: the share of the run taken by page faults, the places with most of it, the
 * causes with the numbers that prove them, and a remedy for each. Pure functions over a filled
 * report: no I/O, no clock, no globals. Documentation/user/verdict.rst describes the rules.
 */
#ifndef PFSTAT_USER_VERDICT_H
#define PFSTAT_USER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/active_share.h"
#include "report/report.h"

#define VERDICT_TEXT   720
#define VERDICT_CAUSES 3
#define VERDICT_NAME   256

/* Below this share of the run, faults are not worth a look. */
#define VERDICT_WRONG_SHARE 0.05

/*
 * Bit masks of 1 << enum fault_class and 1 << enum part: the time of these parts in these classes.
 */
struct verdict_claim {
	uint32_t classes, parts;
};

/* What a remedy's setting saves, by the model of the kernel's read-ahead. */
struct verdict_saving {
	bool known;
	enum predicted_setting setting;
	struct predicted_faults recorded, changed;
};

struct verdict_cause {
	const char *rule;
	bool certain;  /* false: the remedy is the next measurement */
	bool outside;  /* a time share does not judge it: it comes first */
	bool last;     /* it concerns everything the threads do, or another cause leads to it */
	bool ended;    /* its faults were early in the run: causes that go on come first */
	double weight; /* the cause's fault time share */
	struct verdict_claim claim; /* empty: no time another rule may claim */
	unsigned int settings;	    /* the remedy's: 1 << enum predicted_setting */
	struct verdict_saving saving;
	char text[VERDICT_TEXT];
	char remedy[VERDICT_TEXT];
};

/* The function with most of the fault time, over all instructions. */
struct verdict_code {
	char name[VERDICT_NAME]; /* "function (object)", "" if not known */
	uint64_t total_ns;
};

struct verdict {
	bool known; /* false if the run's duration is n/a, or 0 */
	uint64_t wall_ns, busy_ns;
	double share;	  /* share of the run with at least one thread in a fault */
	double cpu_share; /* share of the run's CPU time, cpu_ns, NAN if not known */
	uint64_t cpu_ns;
	struct active_share active;
	bool idle;     /* a small share of the run, and not of what its threads did in it */
	bool small;    /* these shares are too small to matter, and no thread stands still */
	bool at_least; /* part of the faults is not known */
	enum fault_class class;
	double class_share; /* share of the fault time, like the following */
	/* A file, or a mapping if most of the time belongs to anonymous memory. NULL if n/a. */
	const struct group *place, *thread;
	struct verdict_code code;
	/* By weight; of the same time, the certain one. No time belongs to two causes. */
	struct verdict_cause causes[VERDICT_CAUSES];
	size_t nr_causes;
};

/* The verdict points into the report. */
void verdict_make(struct verdict *verdict, const struct report *run);

/* Returns the costliest group other than "(others)". NULL: none. */
const struct group *verdict_top(const struct report *run, enum group_by by);

#define VERDICT_SPAN 32
/* "3.21 s", "12.3 ms". Returns text, which has VERDICT_SPAN bytes. */
const char *verdict_span(char *text, uint64_t ns);

#endif
