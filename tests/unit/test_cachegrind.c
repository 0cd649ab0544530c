// SPDX-License-Identifier: GPL-2.0-only
/* cachegrind files: parsing, validation, and the difference between two runs. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/accounts/cachegrind.h"

static const char *const head[] = {
	"desc: I1 cache:         32768 B, 64 B, 8-way associative\n",
	"cmd: pfdrive helper loop -n 1000 f\n",
	"events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\n",
};

static const char *const whole[] = {
	"fl=/src/loop.h\n",
	"fn=random_run\n",
	"62 3000 1 1 1000 900 500 20 10 2\n",
	"63 7\n", /* trailing zeros are omitted */
	"fl=/src/main.c\n",
	"fn=main\n",
	"8 100 2 2 50 5 5 30 3 3\n",
	"fl=/src/random.h\n",
	"fn=random_run\n",
	"8 1000 1 1\n",
	"summary: 4107 4 4 1050 905 505 50 13 5\n",
};

static const char *const bare[] = {
	"fl=/src/main.c\n", "fn=main\n",   "8 101 2 2 51 6 5 30 3 3\n",	       "fl=???\n",
	"fn=???\n",	    "0 5 0 0 2\n", "summary: 106 2 2 53 6 5 30 3 3\n",
};

static int add_lines(struct cachegrind *cachegrind, const char *const *lines, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = cachegrind_add_line(cachegrind, lines[i]);
	return err;
}

static void read_lines(struct cachegrind *cachegrind, const char *const *lines, size_t nr)
{
	ck_assert_int_eq(add_lines(cachegrind, head, 3), 0);
	ck_assert_int_eq(add_lines(cachegrind, lines, nr), 0);
	ck_assert_int_eq(cachegrind_check(cachegrind), 0);
}

TEST(test_functions_are_added_up_over_files)
{
	struct cachegrind cachegrind = { 0 };

	read_lines(&cachegrind, whole, 11);
	cachegrind_order(&cachegrind);
	ck_assert_uint_eq(cachegrind.nr, 2);
	ck_assert_str_eq(cachegrind.functions[0].name, "random_run");
	ck_assert_int_eq(cachegrind.functions[0].events[CACHEGRIND_IR], 4007);
	ck_assert_int_eq(cachegrind_data_refs(cachegrind.functions[0].events), 1020);
	ck_assert_int_eq(cachegrind_d1_misses(cachegrind.functions[0].events), 910);
	ck_assert_int_eq(cachegrind_ll_misses(cachegrind.functions[0].events), 502);
	ck_assert_int_eq(cachegrind.summary[CACHEGRIND_DW], 50);
	cachegrind_exit(&cachegrind);
}

TEST(test_the_difference_of_two_runs_is_the_loop)
{
	struct cachegrind cachegrind = { 0 }, without = { 0 };

	read_lines(&cachegrind, whole, 11);
	read_lines(&without, bare, 7);
	ck_assert_int_eq(cachegrind_subtract(&cachegrind, &without), 0);
	ck_assert_int_eq(cachegrind_check(&cachegrind), 0); /* the totals still add up */
	cachegrind_order(&cachegrind);
	ck_assert_uint_eq(cachegrind.nr, 3);
	ck_assert_str_eq(cachegrind.functions[0].name, "random_run");
	ck_assert_int_eq(cachegrind.functions[0].events[CACHEGRIND_DR], 1000);
	ck_assert_str_eq(cachegrind.functions[1].name, "???");
	ck_assert_int_eq(cachegrind.functions[1].events[CACHEGRIND_DR], -2);
	ck_assert_int_eq(cachegrind.functions[2].events[CACHEGRIND_DR], -1);
	ck_assert_int_eq(cachegrind_data_refs(cachegrind.summary), 1017);
	cachegrind_exit(&cachegrind);
	cachegrind_exit(&without);
}

TEST(test_subtracting_an_equal_run_leaves_nothing)
{
	struct cachegrind cachegrind = { 0 }, same = { 0 };

	read_lines(&cachegrind, whole, 11);
	read_lines(&same, whole, 11);
	ck_assert_int_eq(cachegrind_subtract(&cachegrind, &same), 0);
	cachegrind_order(&cachegrind);
	ck_assert_uint_eq(cachegrind.nr, 0);
	cachegrind_exit(&cachegrind);
	cachegrind_exit(&same);
}

TEST(test_a_file_that_is_cut_or_does_not_add_up_is_refused)
{
	static const char *const wrong = "summary: 4108 4 4 1050 905 505 50 13 5\n";
	struct cachegrind cachegrind = { 0 };

	ck_assert_int_eq(add_lines(&cachegrind, head, 3), 0);
	ck_assert_int_eq(add_lines(&cachegrind, whole, 10), 0);
	ck_assert_int_eq(cachegrind_check(&cachegrind), -EPROTO);
	ck_assert_int_eq(cachegrind_add_line(&cachegrind, wrong), 0);
	ck_assert_int_eq(cachegrind_check(&cachegrind), -EPROTO);
	ck_assert_int_eq(cachegrind_add_line(&cachegrind, whole[10]),
			 -EPROTO); /* second events line */
	cachegrind_exit(&cachegrind);
}

TEST(test_malformed_lines_are_refused)
{
	static const char *const lines[] = {
		"some words\n",
		"62\n",
		"62 x\n",
		"62 -1\n",
		"62 1 2 3 4 5 6 7 8 9 10\n",
		"62 99999999999999999999\n",
		"events: Ir\n",
		"events: Ir I1mr ILmr Dr Bc\n",
		"events: Ir Ir Ir Ir Ir Ir Ir Ir Ir Ir\n",
	};
	struct cachegrind cachegrind = { 0 };
	size_t i;

	ck_assert_int_eq(add_lines(&cachegrind, head, 3), 0);
	/* figures before any function */
	ck_assert_int_eq(cachegrind_add_line(&cachegrind, "62 1\n"), -EPROTO);
	ck_assert_int_eq(cachegrind_add_line(&cachegrind, "fn=f\n"), 0);
	ck_assert_int_eq(cachegrind_add_line(&cachegrind, "62 1\n"), 0);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(cachegrind_add_line(&cachegrind, lines[i]) == -EPROTO, "%s",
			      lines[i]);
	cachegrind_exit(&cachegrind);
}
