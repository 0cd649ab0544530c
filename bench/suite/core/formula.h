/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The prediction language: + - * / and parentheses over numbers and row values. A number with a
 * time unit (ns, us, ms, s or cycles) is converted to nanoseconds. No I/O.
 *
 *	2 * cpu.syscall + 4096000 / memory.copy
 *	(cpu.call:0 + 12 cycles) / 2
 */
#ifndef PFSTAT_USER_FORMULA_H
#define PFSTAT_USER_FORMULA_H

#include <stddef.h>

#include "util/why.h"

#define FORMULA_NAME 64 /* bytes in a row name, including the NUL */

struct formula_names {
	/* 0, or -ENOENT for an unknown name, or -ENODATA if the name has no value. */
	int (*lookup)(void *context, const char *name, double *value);
	void *context;
	double cycle_ns; /* NAN: unknown */
};

/*
 * Returns 0, -EINVAL (syntax), -ENOENT (unknown name) or -ENODATA (a value is missing). On an
 * error, why holds a clause describing it.
 */
int formula_evaluate(const char *text, const struct formula_names *names, double *value,
		     struct why *why);

#endif
