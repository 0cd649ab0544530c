// SPDX-License-Identifier: GPL-2.0-only
/* Thread names in a process, which may contain any character. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/processes.h"

#define ODD_NAME "a\n(b) 15 bytes!"

struct found {
	unsigned int named, odd, all;
	pid_t odd_tid;
};

static int visit(void *context, pid_t tid, const char name[THREAD_NAME_SIZE])
{
	struct found *found = context;

	found->all++;
	found->named += tid == getpid() && !strcmp(name, "short");
	if (!strcmp(name, ODD_NAME)) {
		found->odd++;
		found->odd_tid = tid;
	}
	return 0;
}

static int visit_fail(void *context, pid_t tid, const char name[THREAD_NAME_SIZE])
{
	(void)context;
	(void)tid;
	(void)name;
	return -ENOSPC;
}

/* Reports its number through one pipe, then waits until the other one ends. */
struct waiting {
	int report[2], end[2];
};

static void *wait_with_odd_name(void *context)
{
	struct waiting *waiting = context;
	pid_t tid = gettid();
	char byte;

	prctl(PR_SET_NAME, ODD_NAME);
	ck_assert_int_eq(write(waiting->report[1], &tid, sizeof(tid)), sizeof(tid));
	ck_assert_int_eq(read(waiting->end[0], &byte, 1), 0);
	return NULL;
}

TEST(test_each_thread_has_its_name)
{
	struct found found = { 0 };
	struct waiting waiting;
	pthread_t thread;
	pid_t tid;

	prctl(PR_SET_NAME, "short");
	ck_assert_int_eq(pipe(waiting.report), 0);
	ck_assert_int_eq(pipe(waiting.end), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_with_odd_name, &waiting), 0);
	ck_assert_int_eq(read(waiting.report[0], &tid, sizeof(tid)), sizeof(tid));
	ck_assert_int_eq(thread_names_visit(getpid(), visit, &found), 0);
	close(waiting.end[1]);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(found.all, 2);
	ck_assert_uint_eq(found.named, 1);
	ck_assert_uint_eq(found.odd, 1);
	ck_assert_int_eq(found.odd_tid, tid);
}

TEST(test_error_of_a_visitor_is_returned)
{
	ck_assert_int_eq(thread_names_visit(getpid(), visit_fail, NULL), -ENOSPC);
}

TEST(test_process_that_has_exited_has_no_threads)
{
	struct found found = { 0 };

	ck_assert_int_eq(thread_names_visit(INT_MAX, visit, &found), 0);
	ck_assert_uint_eq(found.all, 0);
}
