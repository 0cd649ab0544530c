/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A unit test registers itself before main():
 *
 *	TEST(test_sum_of_nothing_is_zero)
 *	{
 *		ck_assert_int_eq(sum_of(NULL, 0), 0);
 *	}
 *
 * Each test runs in a separate process. The assertions come from Check. Members of struct unit_test
 * may follow the name: TEST(test_bad_order_aborts, .signal = SIGABRT).
 */
#ifndef PFSTAT_TESTS_RUNNER_H
#define PFSTAT_TESTS_RUNNER_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that run before and after each test in a file, in the test's process. */
struct unit_fixture {
	SFun setup, teardown; /* NULL: none */
};

struct unit_test {
	struct TTest check; /* name, function, file and line */
	const struct unit_fixture *fixture;
	int signal; /* which ends the test, or 0 */
	int loops;  /* the test runs with _i = 0 … loops - 1, or once if 0 */
	struct unit_test *next;
};

void unit_test_register(struct unit_test *test);

/* The fixture for this file. */
#define FIXTURE(before, after) \
	static struct unit_fixture file_fixture = { .setup = (before), .teardown = (after) }

static struct unit_fixture file_fixture __attribute__((unused));

#define TEST(test_name, ...)                                                                    \
	static void test_name(int _i);                                                          \
	__attribute__((constructor)) static void test_name##_register(void)                     \
	{                                                                                       \
		static struct unit_test test = { { #test_name, test_name, __FILE__, __LINE__ }, \
						 .fixture = &file_fixture,                      \
						 ##__VA_ARGS__ };                               \
		unit_test_register(&test);                                                      \
	}                                                                                       \
	static void test_name(int _i __attribute__((unused)))

#endif
