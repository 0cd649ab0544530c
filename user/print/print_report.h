/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints one command's runs as a table, as CSV or as JSON. */
#ifndef PFSTAT_USER_PRINT_REPORT_H
#define PFSTAT_USER_PRINT_REPORT_H

#include <stdio.h>

#include "print/report_format.h"
#include "report/report.h"

/*
 * Prints one command's runs to out, in a format that requires no recording. In JSON one run is one
 * object, and several runs are { "runs": [ … ] }. CSV has one header line, then one line for each
 * class and run. For one run with groups it has one line for each group. Returns 0 or a negative
 * errno (ENOMEM, or the error from out).
 */
int print_report(FILE *out, enum report_format format, const struct report *runs, size_t nr_runs);
/*
 * Writes a report that was printed to memory. Names in it come from recordings. Therefore a
 * table, and any format on a terminal, has no control characters. 0 or -errno.
 */
int print_report_write(FILE *out, enum report_format format, const char *text, size_t length);
/*
 * A stream for a format that is printed while a recording is read: it passes each line to
 * print_report_write() of @out, which the caller still owns. The caller closes it. NULL and errno.
 */
FILE *print_report_stream(FILE *out, enum report_format format);
/* Prints the warnings about lost data at the start of a table. Usually there are none. */
int print_report_warnings(FILE *out, const struct report *run);

#endif
