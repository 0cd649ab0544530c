/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a process that maps a file and touches some of its bytes, and how
 * large it was after each: what `pfdrive study rss` prints.
 */
#ifndef PFSTAT_USER_RSS_STEPS_H
#define PFSTAT_USER_RSS_STEPS_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/fault/explain.h"
#include "report/report.h"
#include "system/proc_self_size.h"

#define TOUCHES_MAX 32
#define TOUCH_STEPS_MAX (TOUCHES_MAX + 2)
#define TOUCH_FAULTS_MAX 4

/* What the process itself writes down, in memory that it shares with pfdrive. */
struct touch_marks {
	uint64_t start_ns, end_ns;	/* CLOCK_MONOTONIC */
	struct sizes after;
};

/* A logical fault of a step. */
struct touch_fault {
	enum fault_class class;
	uint64_t pgoff;			/* COUNT_NA: of no file */
	uint64_t ns;
	unsigned int attempts;
	bool major, solved;
};

struct touch_step {
	enum touch_kind { TOUCH_START, TOUCH_MMAP, TOUCH_BYTE } kind;
	uint64_t offset;		/* of the byte */
	struct touch_marks marks;
	struct touch_fault faults[TOUCH_FAULTS_MAX];	/* the first ones */
	unsigned int nr_faults;		/* all */
};

struct touch_report {
	struct environment environment;
	const char *bpf_missing;	/* NULL: faults of no file are told, too */
	uint64_t lost;			/* records and events; COUNT_NA: n/a */
	struct touch_step steps[TOUCH_STEPS_MAX];
	unsigned int nr_steps;
};

/* Gives a fault to the step in which it began; of another time or thread it is nobody's. */
void touch_add_fault(struct touch_report *report, const struct explained *fault);

/* Each returns 0 or a negative errno. */
int touch_table(FILE *out, const struct touch_report *report);
int touch_json(FILE *out, const struct touch_report *report);

#endif
