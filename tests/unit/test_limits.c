// SPDX-License-Identifier: GPL-2.0-only
/* Limits of a run: one line each, and how many are exceeded. */
#include <string.h>

#include "runner.h"
#include "user/report/limits.h"

static struct report report;
static char *text;

static void begin(void)
{
	report_init(&report);
	report.losses.records = 0;
	report.losses.events = 0;
	report.time.counted_ns = 1000000000;
	report.evidence.busy_ns = 50000000;
	report.faults.all.major = 10;
	report.faults.all.whole.total_ns = 60000000;
}

static unsigned int check(uint64_t major, uint64_t fault_ns, double share)
{
	const struct limits limits = { major, fault_ns, share };
	unsigned int failed;
	size_t bytes;
	FILE *out;

	free(text);
	out = open_memstream(&text, &bytes);
	failed = limits_check(out, &limits, &report);
	fclose(out);
	return failed;
}

START_TEST(test_limits_that_are_just_kept)
{
	begin();
	ck_assert_uint_eq(check(10, 60000000, 0.05), 0);
	ck_assert_str_eq(text, "ok         major faults: 10, at most 10\n"
			       "ok         time in faults: 60.000 ms, at most 60.000 ms\n"
			       "ok         share of the run: 5.00 %, at most 5.00 %\n");
}
END_TEST

START_TEST(test_limits_that_are_just_exceeded)
{
	begin();
	ck_assert_uint_eq(check(9, 59999999, 0.0499), 3);
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   major faults: 10, at most 9\n"));
	ck_assert_uint_eq(check(9, COUNT_NA, 0.5), 1);
	ck_assert_ptr_null(strstr(text, "time in faults"));
}
END_TEST

START_TEST(test_a_run_with_losses_keeps_no_limit)
{
	begin();
	report.losses.events = 1;
	ck_assert_uint_eq(check(1000, COUNT_NA, 0.01), 2);
	ck_assert_ptr_nonnull(strstr(text, "NOT KNOWN  major faults: 10"));
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   share of the run"));
}
END_TEST

START_TEST(test_an_unknown_duration_exceeds_a_share)
{
	begin();
	report.time.counted_ns = COUNT_NA;
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 1), 1);
}
END_TEST

RUN_TESTS("limits", test_limits_that_are_just_kept, test_limits_that_are_just_exceeded,
	  test_a_run_with_losses_keeps_no_limit, test_an_unknown_duration_exceeds_a_share)
