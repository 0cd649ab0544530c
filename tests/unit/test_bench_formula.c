// SPDX-License-Identifier: GPL-2.0-only
/* Prediction formulas: their values, and the messages for malformed formulas. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/suite/core/formula.h"
#include "runner.h"

#define TINY 0.000000001

static struct why why;

static int lookup(void *context, const char *name, double *value)
{
	(void)context;
	if (!strcmp(name, "cpu.syscall"))
		*value = 100;
	else if (!strcmp(name, "memory.latency:32K:64"))
		*value = 4;
	else if (!strcmp(name, "fault.cold"))
		return -ENODATA;
	else
		return -ENOENT;
	return 0;
}

static int evaluate(const char *text, double cycle_ns, double *value)
{
	const struct formula_names names = { .lookup = lookup, .cycle_ns = cycle_ns };

	why.text[0] = '\0';
	return formula_evaluate(text, &names, value, &why);
}

static double value_of(const char *text)
{
	double value;

	ck_assert_msg(!evaluate(text, 0.5, &value), "%s: %s", text, why.text);
	return value;
}

static void check_refused(const char *text, int err, const char *words)
{
	double value = 1;

	ck_assert_int_eq(evaluate(text, NAN, &value), err);
	ck_assert_msg(strstr(why.text, words), "%s: '%s' lacks '%s'", text, why.text, words);
	ck_assert(isnan(value));
}

TEST(test_operators_have_the_usual_precedence)
{
	ck_assert_double_eq_tol(value_of("1 + 2 * 3"), 7, TINY);
	ck_assert_double_eq_tol(value_of("(1 + 2) * 3"), 9, TINY);
	ck_assert_double_eq_tol(value_of("10 - 2 - 3"), 5, TINY);
	ck_assert_double_eq_tol(value_of("100 / 10 / 2"), 5, TINY);
	ck_assert_double_eq_tol(value_of("-3 + .5"), -2.5, TINY);
	ck_assert_double_eq_tol(value_of("2*-(1+1)"), -4, TINY);
}

TEST(test_units_are_converted_to_nanoseconds)
{
	ck_assert_double_eq_tol(value_of("7 ns"), 7, TINY);
	ck_assert_double_eq_tol(value_of("1.5us"), 1500, TINY);
	ck_assert_double_eq_tol(value_of("2 ms + 1 s"), 1002000000, TINY);
	ck_assert_double_eq_tol(value_of("20000 cycles"), 10000, TINY);
}

TEST(test_names_refer_to_other_rows)
{
	ck_assert_double_eq_tol(value_of("2 * cpu.syscall"), 200, TINY);
	ck_assert_double_eq_tol(value_of("cpu.syscall/memory.latency:32K:64"), 25, TINY);
}

TEST(test_errors_name_the_wrong_part)
{
	check_refused("", -EINVAL, "expected a number");
	check_refused("1 +", -EINVAL, "expected a number");
	check_refused("(1", -EINVAL, "')'");
	check_refused("1 2", -EINVAL, "'2'");
	check_refused("1.2.3", -EINVAL, "'1.2.3'");
	check_refused("5 parsecs", -EINVAL, "'parsecs'");
	check_refused("cpu.nothing", -ENOENT, "cpu.nothing");
	check_refused("fault.cold * 2", -ENODATA, "fault.cold has no value here");
	check_refused("3 cycles", -ENODATA, "cycles");
	check_refused("1 / (2 - 2)", -ENODATA, "0");
	check_refused("inf", -ENOENT, "inf");
}

TEST(test_nesting_depth_is_limited)
{
	char text[100001];

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	check_refused(text, -EINVAL, "deep");
	memset(text, '-', sizeof(text) - 1);
	check_refused(text, -EINVAL, "deep");
}
