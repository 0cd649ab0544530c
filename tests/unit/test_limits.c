// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits for a run: one line each, and how many are exceeded. Limits for the last seconds of a run.
 */
#include <string.h>

#include "runner.h"
#include "user/limits/limits.h"

static struct report report;
static char *text;

static void begin(void)
{
	report_init(&report);
	report.losses.records = 0;
	report.losses.events = 0;
	report.time.counted_ns = 1000000000;
	report.evidence.busy_ns = 50000000;
	report.evidence.busy_max_ns = 50000000;
	report.faults.all.major = 10;
	report.faults.all.whole.total_ns = 60000000;
}

static unsigned int check_limits(const struct limits *limits)
{
	unsigned int failed;
	size_t bytes;
	FILE *out;

	free(text);
	out = open_memstream(&text, &bytes);
	failed = limits_check(out, limits, &report);
	fclose(out);
	return failed;
}

static unsigned int check(uint64_t major, uint64_t fault_ns, double share)
{
	struct limits limits;

	limits_init(&limits);
	limits.max_major = major;
	limits.max_fault_ns = fault_ns;
	limits.max_share = share;
	return check_limits(&limits);
}

TEST(test_limits_that_are_just_kept)
{
	begin();
	ck_assert_uint_eq(check(10, 60000000, 0.05), 0);
	ck_assert_str_eq(text, "ok         major faults: 10, at most 10\n"
			       "ok         time in faults: 60.000 ms, at most 60.000 ms\n"
			       "ok         share of the run: 5.00 %, at most 5.00 %\n");
}

TEST(test_limits_that_are_just_exceeded)
{
	begin();
	ck_assert_uint_eq(check(9, 59999999, 0.0499), 3);
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   major faults: 10, at most 9\n"));
	ck_assert_uint_eq(check(9, COUNT_NA, 0.5), 1);
	ck_assert_ptr_null(strstr(text, "time in faults"));
}

TEST(test_a_run_with_losses_keeps_no_limit)
{
	begin();
	report.losses.events = 1;
	ck_assert_uint_eq(check(1000, COUNT_NA, 0.01), 2);
	ck_assert_ptr_nonnull(strstr(text, "NOT KNOWN  major faults: 10"));
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   share of the run"));
}

TEST(test_a_share_between_its_bounds_is_not_known)
{
	begin();
	report.evidence.busy_max_ns = 50500000;
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.0502), 1);
	ck_assert_str_eq(text, "NOT KNOWN  share of the run: 5.00 %, at most 5.02 %\n");
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.0506), 0);
}

/* 60 ms of faults. A thread that waits for a CPU makes the run longer. */
TEST(test_the_share_of_the_active_time_is_limited_too)
{
	struct activity_figures *activity = &report.evidence.activity;

	begin();
	activity->waiting_ns = 600000000;
	activity->active_ns = 300000000;
	activity->active_max_ns = 400000000;
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.2), 0);
	ck_assert_str_eq(text,
			 "ok         share of the run: 5.00 %, and of its threads' active time: "
			 "15.00 %, at most 20.00 %\n");
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.19), 1);
	ck_assert_ptr_nonnull(strstr(text, "NOT KNOWN  share of the run: 5.00 %"));
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.14), 1);
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   share of the run: 5.00 %"));
	/* It slept. */
	activity->waiting_ns = 0;
	activity->active_ns = 100000000;
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 0.05), 0);
	ck_assert_str_eq(text, "ok         share of the run: 5.00 %, at most 5.00 %\n");
}

TEST(test_the_longest_fault_has_a_limit)
{
	struct limits limits;

	begin();
	report.evidence.tail.longest.duration_ns = 21000000;
	limits_init(&limits);
	limits.max_longest_ns = 21000000;
	ck_assert(limits_any(&limits));
	ck_assert_uint_eq(check_limits(&limits), 0);
	ck_assert_str_eq(text, "ok         longest fault: 21.000 ms, at most 21.000 ms\n");
	limits.max_longest_ns--;
	ck_assert_uint_eq(check_limits(&limits), 1);
	ck_assert_ptr_nonnull(strstr(text, "EXCEEDED   longest fault: 21.000 ms"));
}

TEST(test_failed_faults_have_a_limit_that_may_be_unknown)
{
	struct limits limits;

	begin();
	limits_init(&limits);
	limits.max_failed = 0;
	ck_assert(limits_any(&limits));
	ck_assert_uint_eq(check_limits(&limits), 1);
	ck_assert_str_eq(text, "NOT KNOWN  failed faults: n/a, at most 0\n");
	report.evidence.failed_faults = 0;
	ck_assert_uint_eq(check_limits(&limits), 0);
	report.evidence.failed_faults = 1;
	ck_assert_uint_eq(check_limits(&limits), 1);
	ck_assert_str_eq(text, "EXCEEDED   failed faults: 1, at most 0\n");
}

TEST(test_an_unknown_duration_exceeds_a_share)
{
	begin();
	report.time.counted_ns = COUNT_NA;
	ck_assert_uint_eq(check(COUNT_NA, COUNT_NA, 1), 1);
}

TEST(test_sums_exceed_only_limits_that_are_set)
{
	const struct limit_sums sums = { .major = 3, .fault_ns = 400, .busy_ns = 50 };
	struct limits limits;

	limits_init(&limits);
	ck_assert(!limits_any(&limits));
	ck_assert(!limits_exceeded(&limits, &sums, 1000));
	limits.max_major = 3;
	limits.max_fault_ns = 400;
	limits.max_share = 0.05;
	ck_assert(limits_any(&limits));
	ck_assert(!limits_exceeded(&limits, &sums, 1000));
	ck_assert(limits_exceeded(&limits, &sums, 999));
	limits.max_share = 1;
	limits.max_fault_ns = 399;
	ck_assert(limits_exceeded(&limits, &sums, 1000));
	limits.max_fault_ns = COUNT_NA;
	limits.max_major = 2;
	ck_assert(limits_exceeded(&limits, &sums, 1000));
}

TEST(test_waits_for_a_cpu_do_not_hide_a_share)
{
	struct limit_sums sums = {
		.fault_ns = 60, .busy_ns = 50, .active_ns = 119, .waiting_ns = 81
	};
	struct limits limits;

	limits_init(&limits);
	limits.max_share = 0.5;
	ck_assert(limits_exceeded(&limits, &sums, 1000));
	ck_assert(!limits_exceeded(&limits, &sums, 1001)); /* idle */
	sums.active_ns = 120;
	ck_assert(!limits_exceeded(&limits, &sums, 1000));
}

/* Adds the sums for a program with one major fault of 10 ns in each ns. */
static struct limit_sums add_at(struct limit_window *window, uint64_t ns)
{
	return limit_window_add(window, ns,
				&(struct limit_sums){ .major = ns,
						      .fault_ns = 10 * ns,
						      .busy_ns = ns,
						      .active_ns = 2 * ns,
						      .waiting_ns = 3 * ns });
}

TEST(test_a_window_has_the_growth_of_its_length_at_most)
{
	struct limit_window window;
	struct limit_sums sums;
	uint64_t ns;

	ck_assert_int_eq(limit_window_open(&window, 100, 20), 0);
	ck_assert_uint_eq(add_at(&window, 1000).major, 0);
	ck_assert_uint_eq(add_at(&window, 1020).major, 20);
	for (ns = 1040; ns < 2000; ns += 20)
		sums = add_at(&window, ns);
	ck_assert_uint_eq(sums.major, 100);
	ck_assert_uint_eq(sums.fault_ns, 1000);
	ck_assert_uint_eq(sums.busy_ns, 100);
	ck_assert_uint_eq(sums.active_ns, 200);
	ck_assert_uint_eq(sums.waiting_ns, 300);
	sums = add_at(&window, 2070); /* the mark from 1960 is too old */
	ck_assert_uint_eq(sums.major, 2070 - 1980);
	ck_assert_uint_eq(add_at(&window, 5000).major, 0);
	limit_window_close(&window);
}

TEST(test_a_window_with_more_marks_than_expected_is_shorter)
{
	struct limit_window window;
	struct limit_sums sums = { 0 };
	uint64_t ns;

	ck_assert_int_eq(limit_window_open(&window, 100, 20), 0);
	for (ns = 1; ns <= 1000; ns++)
		sums = add_at(&window, ns);
	ck_assert_uint_eq(sums.major, window.size - 1);
	limit_window_close(&window);
}
