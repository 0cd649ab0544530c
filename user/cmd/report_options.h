/* SPDX-License-Identifier: GPL-2.0-only */
/* Report options, shared by record and report. */
#ifndef PFSTAT_USER_REPORT_OPTIONS_H
#define PFSTAT_USER_REPORT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "print/print_report.h"
#include "report/report.h"

struct report_options {
	enum report_format format;
	bool of_recording; /* set before parsing: formats with every fault are possible */
	bool grouped;	   /* by something else than class */
	enum group_by by;
	unsigned int top;     /* rows, 0 for all */
	bool full;	      /* all tables */
	const char *json;     /* NULL: no file */
	bool usage, syscalls; /* these tables too */
	bool subtract;	      /* the module's share in the times */
};

void report_options_init(struct report_options *options);
/* A child of a command's argp. The input is a struct report_options. */
extern const struct argp report_options_argp;
/* Sets the options in the report, before report_fill(). */
void report_options_apply(const struct report_options *options, struct report *report);
/* Prints a filled report to stdout, and the JSON to the file. Returns the exit status. */
int report_options_print(const struct report_options *options, const struct report *report);
/* Writes only the JSON, if --json was given. Returns the exit status. */
int report_options_write(const struct report_options *options, const struct report *report);

#endif
