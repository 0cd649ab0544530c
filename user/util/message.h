/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive's error messages: one sentence on stderr. */
#ifndef PFSTAT_USER_MESSAGE_H
#define PFSTAT_USER_MESSAGE_H

/* Exit statuses. After a signal, 128 plus the signal number. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_CHANGE = 3, /* pfdrive compare: the runs differ */
	/* pfdrive doctor: a measurement is not possible here; prefetch: a file was skipped */
	STATUS_MISSING = 3,
	STATUS_INCOMPLETE = 4, /* pfdrive compare: a recording lacks too much to be judged */
};

/*
 * Prints "pfdrive: ..." and a newline to stderr, with control characters replaced by '?'.
 * Returns @status, so that a caller can print and return in one statement.
 */
int message(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Reports that printing @what ("the report") to standard output failed. If the reader
 * closed the pipe, as head(1) does, prints nothing and returns 128 + SIGPIPE.
 */
int message_of_stdout(int err, const char *what);

#endif
