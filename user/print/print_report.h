/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the runs of one command as a table, as CSV or as JSON. */
#ifndef PFSTAT_USER_PRINT_REPORT_H
#define PFSTAT_USER_PRINT_REPORT_H

#include <stdio.h>

#include "report/report.h"

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/*
 * Prints the runs of one command to out. JSON is one object: a run's own for
 * one run, { "runs": [ … ] } for several. CSV has one header line and a line
 * a class and run, or of one run that is grouped a line a group. Returns 0 or a
 * negative errno (ENOMEM, or out's error).
 */
int report_print(FILE *out, enum report_format format, const struct report *runs, size_t nr_runs);
/*
 * Writes a report that was printed to memory. Names in it come from recordings: a table, and
 * any format on a terminal, has no character that a terminal would obey. 0 or -errno.
 */
int report_write(FILE *out, enum report_format format, const char *text, size_t length);
/* The lines that a table begins with where something is lost: nothing, mostly. */
int report_print_warnings(FILE *out, const struct report *run);

#endif
