/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reason of a failure, for the user: one clause, with the remedy if there is one.
 *
 * A function that can fail for a reason that its errno does not tell takes a struct why, and
 * returns a negative errno like all others. The caller at the edge prints the clause as a part
 * of one sentence with message().
 */
#ifndef PFSTAT_USER_WHY_H
#define PFSTAT_USER_WHY_H

#include <stdarg.h>

struct why {
	char text[512]; /* "": no reason is given */
};

/* A clause that is too long is cut. */
void why_set(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
void why_vset(struct why *why, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
/* Sets the clause and returns @err, so that a function can explain and fail in one statement. */
int why_fail(struct why *why, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The clause is "@what: " and the name of the error. Returns @err. */
int why_errno(struct why *why, int err, const char *what);

#endif
