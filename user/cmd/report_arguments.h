/* SPDX-License-Identifier: GPL-2.0-only */
/* The parsed command line of pfdrive report. */
#ifndef PFSTAT_USER_REPORT_ARGUMENTS_H
#define PFSTAT_USER_REPORT_ARGUMENTS_H

#include <argp.h>

#include "cmd/report_options.h"
#include "figures/report_figures.h"
#include "recording/time_range.h"

struct report_arguments {
	struct report_options report;
	struct figures_options figures;
	const char *recording;
	const char *file;	 /* NULL: faults of all files and of memory */
	const char *output;	 /* NULL: standard output */
	struct time_range range; /* relative to the start of the recording */
	bool ranged;
	unsigned int slowest; /* the longest faults that are printed; 0: not requested */
};

extern const struct argp report_arguments_argp;

/* Ends the program with a message if the command line is wrong. */
void report_arguments_parse(struct report_arguments *options, int argc, char **argv);

#endif
