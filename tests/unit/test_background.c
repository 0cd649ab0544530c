// SPDX-License-Identifier: GPL-2.0-only
/*
 * Background threads: each result is delivered once and in order, and a full queue blocks the
 * producer.
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/own_process.h"
#include "user/recording/background.h"

#define PIECES 4U
#define GIVEN  3000U

struct log {
	unsigned int pieces[PIECES]; /* the result to deliver, or 0 if none */
	unsigned int worked[PIECES];
	unsigned int delivered[GIVEN + 1];
	unsigned int nr;
	unsigned int threads; /* one bit for each thread with work done */
	int nice;
	long work_us;
};

static void work(void *context, unsigned int thread, unsigned int piece)
{
	struct log *log = context;

	__atomic_fetch_or(&log->threads, 1U << thread, __ATOMIC_RELAXED);
	log->worked[piece] = log->pieces[piece];
	/* The first of four jobs takes longest, so the others finish before it. */
	if (log->work_us && piece == 0)
		usleep(log->work_us);
}

static void deliver(void *context, unsigned int thread, unsigned int piece)
{
	struct log *log = context;

	(void)thread;
	ck_assert_uint_eq(log->worked[piece], log->pieces[piece]);
	log->nice = getpriority(PRIO_PROCESS, 0);
	log->delivered[log->nr++] = log->pieces[piece];
	log->pieces[piece] = 0;
}

static void give(struct background *background, struct log *log, unsigned int number)
{
	const unsigned int piece = background_take(background);

	ck_assert_uint_lt(piece, PIECES);
	ck_assert_uint_eq(log->pieces[piece], 0); /* the last result was delivered */
	log->pieces[piece] = number;
	ck_assert_int_eq(background_give(background), 0);
}

static void give_many(struct log *log, unsigned int nr, unsigned int max_threads)
{
	struct background background;
	unsigned int i;

	background_init(&background, PIECES, work, deliver, log);
	background.max_threads = max_threads; /* whatever the number of CPUs */
	for (i = 1; i <= nr; i++)
		give(&background, log, i);
	background_wait(&background);
	ck_assert_uint_eq(log->nr, nr);
	background_exit(&background);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(log->delivered[i], i + 1);
}

TEST(test_work_is_delivered_in_order)
{
	static struct log log;
	unsigned int threads;

	for (threads = 1; threads <= BACKGROUND_THREADS_MAX; threads++) {
		memset(&log, 0, sizeof(log));
		give_many(&log, GIVEN, threads);
		memset(&log, 0, sizeof(log));
		log.work_us = 1000;
		give_many(&log, 100, threads);
	}
}

/* A producer that never blocks needs only one thread. Without work no thread starts. */
TEST(test_threads_start_only_when_work_waits)
{
	static struct log log;
	struct background background;
	unsigned int i;

	background_init(&background, PIECES, work, deliver, &log);
	background_wait(&background);
	ck_assert_uint_eq(background.nr_threads, 0);
	for (i = 1; i <= 10; i++) {
		give(&background, &log, i);
		background_wait(&background);
	}
	ck_assert_uint_eq(background.nr_threads, 1);
	ck_assert_uint_eq(log.threads, 1);
	/* Several threads start if there are CPUs for them. */
	background.max_threads = 3;
	log.work_us = 20000;
	for (; i <= 40; i++)
		give(&background, &log, i);
	ck_assert_uint_gt(background.nr_threads, 1);
	ck_assert_uint_le(background.nr_threads, 3);
	background_exit(&background);
	ck_assert_uint_eq(log.nr, 40); /* queued work is finished first */
}

/* Without the privilege nothing changes. With it, threads that start later inherit the priority. */
TEST(test_raised_priority_is_inherited_and_restored)
{
	const int before = getpriority(PRIO_PROCESS, 0);
	static struct log log;
	struct background background;
	struct priority priority = { 0 };
	int raised;

	background_init(&background, PIECES, work, deliver, &log);
	priority_raise(&priority);
	raised = getpriority(PRIO_PROCESS, 0);
	ck_assert_int_eq(raised, priority.raised ? -20 : before);
	priority_raise(&priority); /* a second call has no effect */
	give(&background, &log, 1);
	priority_restore(&priority);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), before);
	priority_restore(&priority);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), before);
	background_exit(&background);
	ck_assert_int_eq(log.nice, raised);
}
