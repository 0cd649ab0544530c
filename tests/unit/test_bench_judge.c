// SPDX-License-Identifier: GPL-2.0-only
/* Marks on rows: kernel counts contradicting the operation's claim, and noise. */
#include <math.h>
#include <string.h>

#include "bench/suite/core/judge.h"
#include "runner.h"
#include "user/model/counters.h"
#include "user/util/time_ns.h"

static struct why why;

/* The claim for a context switch: one to two switches, two calls, no fault. */
static const struct bench_claim a_switch = {
	.made = true,
	.range = { { 1, 2 }, { 2, 2 }, { 0, 0 }, { 0, 0 } },
};

static bool agrees(uint64_t switches, uint64_t syscalls, uint64_t faults, double share)
{
	const struct bench_counts counts = { .event = { switches, syscalls, faults, 0 } };

	return judge_counts(&a_switch, &counts, 1000, 0, share, &why);
}

TEST(test_counts_within_the_claim_are_accepted)
{
	ck_assert(agrees(1000, 2000, 0, 1));
	ck_assert(agrees(1003, 2004, 1, 1));
	ck_assert_str_eq(why.text, "");
	ck_assert(agrees(COUNT_NA, COUNT_NA, 0, 1));
}

TEST(test_switch_operation_without_switches_is_marked)
{
	ck_assert(!agrees(0, 2000, 0, 1));
	ck_assert_ptr_nonnull(strstr(why.text, "context switches"));
	ck_assert(!agrees(500, 2000, 0, 1));
}

/* getrusage(2) in one partner counts only the partner's own half of the switches. */
TEST(test_partial_count_is_accepted_if_only_a_share_is_visible)
{
	ck_assert(agrees(500, COUNT_NA, 0, 0.5));
	ck_assert(!agrees(100, COUNT_NA, 0, 0.5));
}

TEST(test_syscall_operation_without_syscalls_is_marked)
{
	ck_assert(!agrees(1000, 3, 0, 1));
	ck_assert_ptr_nonnull(strstr(why.text, "system calls"));
}

TEST(test_unclaimed_events_are_marked)
{
	ck_assert(!agrees(1000, 2000, 900, 1));
	ck_assert_ptr_nonnull(strstr(why.text, "page faults"));
	ck_assert(!agrees(1000, 9000, 0, 1));
}

TEST(test_preemptions_are_accepted_and_other_events_are_not)
{
	static const struct bench_claim none = { .made = true };
	struct bench_counts counts = { .event = { 200, 0, 0, 0 } };

	ck_assert(judge_counts(&none, &counts, 100, SECOND, 1, &why));
	counts.event[BENCH_SWITCHES] = 2000;
	ck_assert(!judge_counts(&none, &counts, 100, SECOND, 1, &why));
	counts.event[BENCH_SWITCHES] = 0;
	counts.event[BENCH_SYSCALLS] = 200;
	ck_assert(!judge_counts(&none, &counts, 100, SECOND, 1, &why));
}

TEST(test_operation_without_a_claim_accepts_all_counts)
{
	static const struct bench_claim nothing;
	const struct bench_counts counts = { .event = { 9, 9, 9, 9 } };

	ck_assert(judge_counts(&nothing, &counts, 1, 0, 1, &why));
}

static bool quiet(size_t runs, size_t outliers, double value, double half_width)
{
	const struct statistics statistics = { .runs = runs, .outliers = outliers };

	return judge_noise(&statistics, value, half_width, &why);
}

TEST(test_noisy_statistics_are_refused_with_a_reason)
{
	ck_assert(quiet(30, 2, 100, 5));
	ck_assert(!quiet(30, 2, 100, 11));
	ck_assert_ptr_nonnull(strstr(why.text, "11%"));
	ck_assert(!quiet(30, 9, 100, 5));
	ck_assert_ptr_nonnull(strstr(why.text, "outliers"));
	ck_assert(quiet(30, 9, 100, 0.5));
	ck_assert(!quiet(2, 0, 100, 5));
	ck_assert(!quiet(30, 0, -1, 5));
	ck_assert_ptr_nonnull(strstr(why.text, "subtracted"));
	ck_assert(!quiet(30, 0, NAN, 5));
}
