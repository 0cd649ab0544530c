/* SPDX-License-Identifier: GPL-2.0-only */
/* How pfdrive says what went wrong: one sentence on stderr. */
#ifndef PFSTAT_USER_MESSAGE_H
#define PFSTAT_USER_MESSAGE_H

/* Exit statuses. Ended by a signal: 128 and its number. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_CHANGE = 3, /* pfdrive compare: the runs differ */
};

/*
 * "pfdrive: …\n", a ? for what a terminal would obey. Returns status, so that a failing
 * step is one line.
 */
int message(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Printing what ("the report") on standard output failed. Quietly 128 + SIGPIPE when its
 * reader is gone, as `head' is after its lines: no failure that anybody waits to hear of.
 */
int message_of_stdout(int err, const char *what);

#endif
