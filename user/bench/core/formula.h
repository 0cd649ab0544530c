/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predictions: sums, differences, products and quotients of numbers and of what
 * other rows measured, with parentheses. A number may carry a unit of time
 * (ns, us, ms, s, or cycles), and then is that many nanoseconds. No I/O.
 *
 *	2 * cpu.syscall + 4096000 / memory.copy
 *	(cpu.call:0 + 12 cycles) / 2
 */
#ifndef PFSTAT_USER_FORMULA_H
#define PFSTAT_USER_FORMULA_H

#include <stddef.h>

#define FORMULA_NAME 64		/* of a row, with its end */

struct formula_names {
	/* 0; -ENOENT: there is no such name; -ENODATA: it has no value. */
	int (*lookup)(void *context, const char *name, double *value);
	void *context;
	double cycle_ns;	/* NAN: not known */
};

/*
 * 0, or in why a clause that says what is wrong with the text: -EINVAL: it is no
 * formula, -ENOENT: a name that there is not, -ENODATA: a value that there is not.
 */
int formula_evaluate(const char *text, const struct formula_names *names, double *value,
		     char *why, size_t size);

#endif
