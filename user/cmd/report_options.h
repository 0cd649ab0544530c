/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that record and report share, and pfdrive report's command line and formats with
 * every fault.
 */
#ifndef PFSTAT_USER_REPORT_OPTIONS_H
#define PFSTAT_USER_REPORT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/profile.h"
#include "figures/figures.h"
#include "print/print_report.h"
#include "print/printers.h"
#include "recording/selection.h"
#include "report/report.h"

/* Report options, shared by record and report. */

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

/* pfdrive report's parsed command line. */

struct report_arguments {
	struct report_options report;
	struct figures_options figures;
	const char *recording;
	const char *file;	 /* NULL: faults on all files and memory */
	const char *output;	 /* NULL: standard output */
	struct time_range range; /* relative to the start of the recording */
	bool ranged;
	bool columns;	      /* print the columns of the formats with rows, and nothing else */
	unsigned int slowest; /* how many longest faults to print, 0 if not requested */
};

extern const struct argp report_arguments_argp;

/* Ends the program with a message if the command line is wrong. */
void report_arguments_parse(struct report_arguments *options, int argc, char **argv);

/*
 * The report formats that have every fault: traces, rows and profiles. They get the items and the
 * faults while a recording is read.
 */

/* All zero is closed. */
struct fault_stream {
	const struct report_printer *format;
	FILE *out;
	FILE *filter; /* replaces control characters in names before out, a terminal; or NULL */
	struct time_range range; /* the rest is left out */
	uint64_t faults;	 /* in the range */
	int err;		 /* the error at which it stopped: later faults have no effect */
	void *data;		 /* for a fault format, while it is open */
	struct profile profile;
};

/* The caller still owns out and analysis. 0 or a negative errno. Both require the close. */
int fault_stream_open(struct fault_stream *stream, enum report_format format, FILE *out,
		      struct analysis *analysis, const struct time_range *range);
/* Call it before the analysis has the item, and then fault_stream_after(). 0 or -errno. */
int fault_stream_before(struct fault_stream *stream, const struct item *item);
int fault_stream_after(struct fault_stream *stream, const struct item *item);
int fault_stream_fault(struct fault_stream *stream, const struct explained *fault);
/*
 * Prints the end, or everything. Call it after report_fill(). @start_ns: start of the recording,
 * COUNT_NA if not known. Returns 0 or the first error.
 */
int fault_stream_end(struct fault_stream *stream, const struct report *report, uint64_t start_ns);
void fault_stream_close(struct fault_stream *stream);

#endif
