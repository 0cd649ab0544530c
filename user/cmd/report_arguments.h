/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive report's parsed command line. */
#ifndef PFSTAT_USER_REPORT_ARGUMENTS_H
#define PFSTAT_USER_REPORT_ARGUMENTS_H

#include <argp.h>

#include "cmd/report_options.h"
#include "figures/figures.h"
#include "recording/selection.h"

struct report_arguments {
	struct report_options report;
	struct figures_options figures;
	const char *recording;
	const char *file;	 /* NULL: faults on all files and memory */
	const char *output;	 /* NULL: standard output */
	struct time_range range; /* relative to the start of the recording */
	bool ranged;
	unsigned int slowest; /* how many longest faults to print, 0 if not requested */
};

extern const struct argp report_arguments_argp;

/* Ends the program with a message if the command line is wrong. */
void report_arguments_parse(struct report_arguments *options, int argc, char **argv);

#endif
