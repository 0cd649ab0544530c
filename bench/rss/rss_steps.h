/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a process mapping a file and touching some bytes in it, with the process's size
 * after each step. Printed by `pfdrive study rss`.
 */
#ifndef PFSTAT_USER_RSS_STEPS_H
#define PFSTAT_USER_RSS_STEPS_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/fault/explain.h"
#include "bench/rss/proc_self_size.h"
#include "report/report.h"

#define RSS_TOUCHES_MAX 32
#define RSS_STEPS_MAX	(RSS_TOUCHES_MAX + 2)
#define RSS_FAULTS_MAX	4

/* Written by the process itself, in memory shared with pfdrive. */
struct rss_marks {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	struct sizes after;
};

/* A logical fault in a step. */
struct rss_fault {
	enum fault_class class;
	uint64_t pgoff; /* COUNT_NA if not in a file */
	uint64_t ns;
	unsigned int attempts;
	bool major, solved;
};

struct rss_step {
	enum rss_step_kind { RSS_START, RSS_MMAP, RSS_TOUCH } kind;
	uint64_t offset; /* byte offset */
	struct rss_marks marks;
	struct rss_fault faults[RSS_FAULTS_MAX]; /* the first ones */
	unsigned int nr_faults;			 /* all */
};

struct rss_report {
	struct environment environment;
	const char *bpf_missing; /* NULL: faults without a file are known too */
	uint64_t lost;		 /* records and events, or COUNT_NA if n/a */
	struct rss_step steps[RSS_STEPS_MAX];
	unsigned int nr_steps;
};

/* Adds a fault to the step in which it began. A fault outside of all steps is dropped. */
void rss_steps_add_fault(struct rss_report *report, const struct explained *fault);

/* Each returns 0 or a negative errno. */
int rss_table(FILE *out, const struct rss_report *report);
int rss_json(FILE *out, const struct rss_report *report);

#endif
