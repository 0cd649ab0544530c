// SPDX-License-Identifier: GPL-2.0-only
/* One replay in a child process, which a signal stops. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "apps/advise/advise.h"
#include "user/util/page_size.h"
#include "user/util/signals.h"
#include "util/why.h"

#define SECOND_NS 1000000000ULL

static struct recorded_accesses accesses;
static const struct candidate control = { .name = "control",
					  .advice = CANDIDATE_KEEP,
					  .readahead_bytes = CANDIDATE_KEEP,
					  .around_bytes = CANDIDATE_KEEP };

static void begin(void)
{
	signals_init();
	accesses = (struct recorded_accesses){ .plan.have_off_cpu = true };
}

static void end(void)
{
	access_plan_exit(&accesses.plan);
}

/* A one-thread plan with computation. */
static void plan_run(uint64_t ns)
{
	const struct plan_event exit = { .type = PLAN_EVENT_EXIT, .start_ns = ns, .end_ns = ns };

	ck_assert_int_eq(access_plan_add(&accesses.plan, 1, &exit), 0);
	ck_assert_int_eq(access_plan_build(&accesses.plan), 0);
}

static int repeat(struct repetition_figures *figures)
{
	struct why why;

	return repetition_run(&accesses, &control, figures, &why);
}

TEST(test_a_replay_takes_at_least_the_time_of_its_steps)
{
	struct repetition_figures figures;

	plan_run(SECOND_NS / 100);
	ck_assert_int_eq(repeat(&figures), 0);
	ck_assert_uint_ge(figures.elapsed_ns, SECOND_NS / 100);
	ck_assert_uint_eq(figures.refused, 0);
}

/* Sends a signal to this process after a while. */
static pid_t signal_after(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = ns };
	const pid_t pid = fork();

	if (pid)
		return pid;
	nanosleep(&time, NULL);
	kill(getppid(), SIGTERM);
	_exit(0);
}

/* The replay would last longer than the test may. */
TEST(test_a_signal_at_any_moment_of_the_start_ends_the_replay)
{
	struct repetition_figures figures;
	uint64_t ns;
	pid_t pid;

	plan_run(1000 * SECOND_NS);
	for (ns = 0; ns < 2000000; ns += 10000) {
		signals_caught = 0;
		pid = signal_after(ns);
		ck_assert_int_gt(pid, 0);
		ck_assert_int_eq(repeat(&figures), SIGTERM);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
}

/* A program on tmpfs beside data on a disk. */
TEST(test_a_file_without_a_read_ahead_setting_is_replayed_as_it_is)
{
	const struct candidate readahead = { .name = "read-ahead 0",
					     .advice = CANDIDATE_KEEP,
					     .readahead_bytes = 0,
					     .around_bytes = CANDIDATE_KEEP };
	char path[] = "/dev/shm/pfstat-repetition-XXXXXX";
	struct why why;
	struct accessed_file file = { .path = path, .faults = 1 };
	struct accessed_mapping mapping = {
		.bytes = page_size(), .pid = 1, .initial_advice = -1, .used = true
	};
	const struct plan_event touch = { .type = PLAN_EVENT_TOUCH, .start_ns = 1, .end_ns = 2 };
	struct repetition_figures figures;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, page_size()), 0);
	accesses.files = &file;
	accesses.nr_files = 1;
	accesses.mappings = &mapping;
	accesses.nr_mappings = 1;
	ck_assert_int_eq(access_plan_add(&accesses.plan, 1, &touch), 0);
	plan_run(1000);
	ck_assert_int_eq(repetition_run(&accesses, &readahead, &figures, &why), 0);
	ck_assert_uint_ge(figures.minor, 1);
	close(fd);
	unlink(path);
}

FIXTURE(begin, end);
