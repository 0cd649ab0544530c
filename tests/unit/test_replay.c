// SPDX-License-Identifier: GPL-2.0-only
/* A replay's order, gaps and pages. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "runner.h"
#include "apps/advise/replay.h"
#include "user/util/page_size.h"
#include "user/util/time_ns.h"

TEST(test_gaps_are_between_faults)
{
	struct replay replay = { 0 };

	/* The ends come in another order than the starts: two threads overlap. */
	ck_assert_int_eq(replay_add(&replay, 7, 1000, 1100), 0);
	ck_assert_int_eq(replay_add(&replay, 9, 1250, 1300), 0);
	ck_assert_int_eq(replay_add(&replay, 8, 1150, 2000), 0);
	ck_assert_int_eq(replay_add(&replay, 10, 2500, 2600), 0);
	replay_order(&replay);
	ck_assert_uint_eq(replay.visits[0].page, 7);
	ck_assert_uint_eq(replay.visits[1].page, 8);
	ck_assert_uint_eq(replay.visits[2].page, 9);
	ck_assert_uint_eq(replay.visits[0].end_ns, 0);
	ck_assert_uint_eq(replay.visits[1].end_ns, 50);
	ck_assert_uint_eq(replay.visits[2].end_ns, 0);
	ck_assert_uint_eq(replay.visits[3].end_ns, 500);
	replay_exit(&replay);
}

TEST(test_visits_touch_their_pages_and_no_other)
{
	static uint8_t data[8 * PAGE_SIZE_MAX];
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct replay replay = { 0 };
	struct pattern pattern;
	uint64_t pages;

	memset(data, 0, sizeof(data));
	data[2 * page_size()] = 1;
	data[5 * page_size()] = 10;
	data[7 * page_size()] = 100;
	replay_add(&replay, 5, 10, 20);
	replay_add(&replay, 2, 30, 40);
	replay_add(&replay, 5, 50, 60);
	replay_add(&replay, 8, 70, 80); /* beyond the end of a truncated file */
	replay_order(&replay);
	replay_pattern(&pattern, &replay, 8 * page_size(), false);
	ck_assert_uint_eq(pattern_run(&pattern, data, &watch), 21);
	ck_assert_uint_eq(watch.done, 4);
	ck_assert_int_eq(pattern_pages(&pattern, &stop, &pages), 0);
	ck_assert_uint_eq(pages, 2);
	pattern_warm_up(&pattern);
	replay_exit(&replay);
}

TEST(test_pace_is_never_faster_than_recorded)
{
	static const uint8_t data[PAGE_SIZE_MAX];
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct replay replay = { 0 };
	struct pattern pattern;
	uint64_t start_ns;

	replay_add(&replay, 0, 0, 0);
	replay_add(&replay, 0, 50000, 50000);	  /* waits by spinning */
	replay_add(&replay, 0, 3050000, 3050000); /* waits by sleeping, then spinning */
	replay_order(&replay);
	replay_pattern(&pattern, &replay, page_size(), true);
	start_ns = clock_monotonic_ns();
	pattern_run(&pattern, data, &watch);
	ck_assert_uint_ge(clock_monotonic_ns() - start_ns, 3050000);
	replay_exit(&replay);
}

static volatile sig_atomic_t stopped;

static void stop_it(int number)
{
	stopped = number;
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ULL + used.tv_nsec;
}

/* In a gap lasting centuries, the loop neither sleeps nor spins to the end. */
TEST(test_stop_ends_a_gap)
{
	static const uint8_t data[PAGE_SIZE_MAX];
	const struct sigaction action = { .sa_handler = stop_it };
	const struct itimerval soon = { .it_value.tv_usec = 50000 };
	struct pattern_watch watch = { .stop = &stopped };
	struct replay replay = { 0 };
	const uint64_t start_ns = clock_monotonic_ns(), used_ns = cpu_ns();
	struct pattern pattern;

	replay_add(&replay, 0, 0, 0);
	replay_add(&replay, 0, UINT64_MAX / 2, UINT64_MAX / 2);
	replay_add(&replay, 0, UINT64_MAX - 1, UINT64_MAX - 1);
	replay_order(&replay);
	replay_pattern(&pattern, &replay, page_size(), true);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	pattern_run(&pattern, data, &watch);
	ck_assert_uint_lt(watch.done, 3);
	ck_assert_uint_lt(clock_monotonic_ns() - start_ns, 30000000000ULL);
	ck_assert_uint_lt(cpu_ns() - used_ns, 40000000);
	replay_exit(&replay);
}

/* A signal that does not stop the run neither ends a gap nor makes it spin. */
TEST(test_a_gap_outlasts_other_signals)
{
	static const uint8_t data[PAGE_SIZE_MAX];
	const volatile sig_atomic_t stop = 0;
	const struct sigaction action = { .sa_handler = stop_it };
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct pattern_watch watch = { .stop = &stop };
	struct replay replay = { 0 };
	const uint64_t start_ns = clock_monotonic_ns(), used_ns = cpu_ns();
	struct pattern pattern;

	replay_add(&replay, 0, 0, 0);
	replay_add(&replay, 0, 200000000, 200000000);
	replay_order(&replay);
	replay_pattern(&pattern, &replay, page_size(), true);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	pattern_run(&pattern, data, &watch);
	ck_assert_uint_ge(clock_monotonic_ns() - start_ns, 200000000);
	ck_assert_uint_lt(cpu_ns() - used_ns, 100000000);
	replay_exit(&replay);
}

TEST(test_empty_recording_has_no_accesses)
{
	struct replay replay = { 0 };

	replay_order(&replay);
	ck_assert_uint_eq(replay.count, 0);
	replay_exit(&replay);
}

/* DONTNEED zeroes anonymous memory, which shows when it was called. */
TEST(test_advice_is_repeated_at_its_place)
{
	const size_t bytes = 4 * page_size();
	uint8_t *data =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct replay replay = { 0 };
	struct pattern pattern;
	int error;

	ck_assert_ptr_ne(data, MAP_FAILED);
	data[page_size()] = 1;
	data[2 * page_size()] = 10;
	replay_add(&replay, 1, 1000, 1100);
	replay_add(&replay, 2, 1200, 1300);
	replay_add(&replay, 1, 2000, 2100);
	replay_add(&replay, 2, 2200, 2300);
	/* Advises page 1 before the second visit. The range also exceeds the end of the file. */
	replay_advise(&replay, &(struct replay_advice){ 1, 1, 1500, 1600, 0, MADV_DONTNEED });
	replay_advise(&replay, &(struct replay_advice){ 3, 99, 0, 0, 0, MADV_RANDOM });
	replay_advise(&replay, &(struct replay_advice){ 99, 9, 1550, 1600, 0, MADV_DONTNEED });
	replay_advise(&replay, &(struct replay_advice){ 2, 1, 2301, 2400, 0, MADV_DONTNEED });
	replay_order(&replay);
	/* Advice after the last visit is omitted. */
	ck_assert_uint_eq(replay.nr_advices, 3);
	ck_assert_uint_eq(replay.advices[0].before, 0);
	ck_assert_uint_eq(replay.advices[0].end_ns, 0);
	ck_assert_uint_eq(replay.advices[1].before, 2);
	ck_assert_uint_eq(replay.advices[1].end_ns, 200);
	/* The call's own time is not part of a gap. */
	ck_assert_uint_eq(replay.visits[2].end_ns, 400);
	replay_pattern(&pattern, &replay, bytes, false);
	ck_assert_uint_eq(pattern_run(&pattern, data, &watch), 1 + 10 + 0 + 10);
	ck_assert_uint_eq(replay_refused(&error), 0);
	replay_forget_advice(&replay);
	data[page_size()] = 1;
	ck_assert_uint_eq(pattern_run(&pattern, data, &watch), 22);
	replay_exit(&replay);
	munmap(data, bytes);
}

TEST(test_time_after_an_early_advice_is_waited_for)
{
	struct replay replay = { 0 };

	replay_add(&replay, 0, 5000, 6000);
	replay_advise(&replay, &(struct replay_advice){ 0, 1, 1000, 1500, 0, MADV_WILLNEED });
	replay_advise(&replay, &(struct replay_advice){ 0, 1, 0, 0, 0, MADV_RANDOM });
	replay_order(&replay);
	ck_assert_uint_eq(replay.advices[1].end_ns, 0);
	ck_assert_uint_eq(replay.visits[0].end_ns, 3500);
	replay_exit(&replay);
}

TEST(test_refused_advice_is_counted)
{
	uint8_t *data = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const volatile sig_atomic_t stop = 0;
	struct pattern_watch watch = { .stop = &stop };
	struct replay replay = { 0 };
	struct pattern pattern;
	int error = 0;

	ck_assert_ptr_ne(data, MAP_FAILED);
	replay_add(&replay, 0, 10, 20);
	replay_advise(&replay, &(struct replay_advice){ 0, 1, 5, 6, 0, 9999 });
	replay_order(&replay);
	replay_pattern(&pattern, &replay, page_size(), false);
	pattern_run(&pattern, data, &watch);
	ck_assert_uint_eq(replay_refused(&error), 1);
	ck_assert_int_eq(error, EINVAL);
	replay_exit(&replay);
	munmap(data, page_size());
}
