/* SPDX-License-Identifier: GPL-2.0-only */
/* How a report is to be printed, as the command line says; shared by record and report. */
#ifndef PFSTAT_USER_REPORT_OPTIONS_H
#define PFSTAT_USER_REPORT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "report/report.h"

struct report_options {
	enum report_format format;
	bool may_trace;		/* set before parsing: --format trace is no mistake */
	bool trace;		/* it was given; format is meaningless */
	bool grouped;		/* by something else than class */
	enum group_by by;
	unsigned int top;	/* rows; 0: all */
	const char *json;	/* NULL: no file */
	bool usage, syscalls;	/* these tables too */
	bool subtract;		/* the module's share of the times */
};

void report_options_init(struct report_options *options);
/* A parser to be a child of a command's own, whose child_inputs[] is the struct. */
extern const struct argp report_options_argp;
/* What is asked of report_fill(). */
void report_options_apply(const struct report_options *options, struct report *report);
/* Prints a filled report to stdout, and the JSON to its file. The exit status. */
int report_options_print(const struct report_options *options, const struct report *report);
/* The JSON alone, when it was asked for. The exit status. */
int report_options_write(const struct report_options *options, const struct report *report);

#endif
