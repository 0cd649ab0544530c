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
 *
 * Tests that differ by a value are a table, whose first column is the claim, printed if a row fails:
 *
 *	static const struct {
 *		const char *claim;
 *		int values[2], nr, sum;
 *	} sums[] = {
 *		{ "a sum of nothing is zero", { 0 }, 0, 0 },
 *		{ "a sum has all values", { 2, 3 }, 2, 5 },
 *	};
 *
 *	TEST_ROWS(test_sum, row, sums)
 *	{
 *		ck_assert_int_eq(sum_of(row->values, row->nr), row->sum);
 *	}
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
	int signal;	  /* which ends the test, or 0 */
	int loops;	  /* the test runs with _i = 0 … loops - 1, or once if 0 */
	const void *rows; /* NULL, or an array whose elements begin with the claim of their loop */
	size_t row_bytes;
	struct unit_test *next;
};

void unit_test_register(struct unit_test *test);

/* Returns @memory, which the runner frees after the test. */
void *unit_own(void *memory);

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

/* A test for each row of an array, to which @row points. */
#define TEST_ROWS(test_name, row, table, ...)                                         \
	static void test_name##_row(const __typeof__((table)[0]) *row);               \
	TEST(test_name, .loops = sizeof(table) / sizeof((table)[0]), .rows = (table), \
	     .row_bytes = sizeof((table)[0]), ##__VA_ARGS__)                          \
	{                                                                             \
		test_name##_row(&(table)[_i]);                                        \
	}                                                                             \
	static void test_name##_row(const __typeof__((table)[0]) *row)

#endif
