// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs an access plan's steps as accesses, calls and waits. CPU time is spent on the CPU, so
 * threads compete for the CPU as they did. A sleep is a sleep.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "advise/step_runner.h"
#include "util/array.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "workload/pattern.h"

/* CLOCK_THREAD_CPUTIME_ID needs a system call, which is too long for shorter times. */
#define THREAD_CLOCK_FROM_NS 50000

static void run_for(uint64_t ns)
{
	const clockid_t clock = ns < THREAD_CLOCK_FROM_NS ? CLOCK_MONOTONIC :
							    CLOCK_THREAD_CPUTIME_ID;
	const uint64_t start = clock_read_ns(clock);

	while (clock_read_ns(clock) - start < ns && !signals_caught)
		;
}

/* Sleeps in one-second slices, to notice a signal to another thread. */
static void sleep_for(uint64_t ns)
{
	const uint64_t start = clock_monotonic_ns();
	uint64_t slept = 0, slice;
	struct timespec time;

	for (; slept < ns && !signals_caught; slept = clock_monotonic_ns() - start) {
		slice = ns - slept < SECOND ? ns - slept : SECOND;
		time = (struct timespec){ slice / SECOND, slice % SECOND };
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	}
}

void step_runner_wait(uint32_t *number)
{
	const struct timespec second = { .tv_sec = 1 };

	while (!__atomic_load_n(number, __ATOMIC_ACQUIRE) && !signals_caught)
		syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
}

void step_runner_signal(uint32_t *number)
{
	__atomic_store_n(number, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void advise_range(const struct replayed_mapping *mapping, uint64_t page, uint64_t pages,
			 int advice, struct step_runner_figures *figures)
{
	const uint64_t all = page_size_count(mapping->bytes);
	const uint64_t room = page < all ? all - page : 0;
	const uint64_t start = clock_monotonic_ns();

	pages = pages < room ? pages : room;
	if (madvise(mapping->data + page * page_size(), pages * page_size(), advice)) {
		figures->refused++;
		figures->refused_errno = errno;
	}
	figures->fault_ns += clock_monotonic_ns() - start;
}

void step_runner_advise_all(const struct replayed_mapping *mapping,
			    struct step_runner_figures *figures)
{
	if (mapping->advice >= 0)
		advise_range(mapping, 0, UINT64_MAX / page_size(), mapping->advice, figures);
}

/* A candidate replaces the program's advice, except that pages are not needed any more. */
static void advise_as_recorded(const struct replayed_mapping *mapping, const struct plan_step *step,
			       struct step_runner_figures *figures)
{
	if (mapping->advice < 0 || step->advice == MADV_DONTNEED)
		advise_range(mapping, step->value, step->pages, step->advice, figures);
}

static void touch_page(const struct replayed_mapping *mapping, uint64_t page,
		       struct step_runner_figures *figures)
{
	const uint64_t start = clock_monotonic_ns();

	*(volatile uint8_t *)(mapping->data + page * page_size());
	figures->fault_ns += clock_monotonic_ns() - start;
}

static void step_run(const struct step_context *context, const struct plan_step *step,
		     struct step_runner_figures *figures)
{
	switch (step->type) {
	case PLAN_RUN:
		run_for(step->value);
		break;
	case PLAN_SLEEP:
		sleep_for(step->value);
		break;
	case PLAN_TOUCH:
		touch_page(&context->mappings[step->mapping], step->value, figures);
		break;
	case PLAN_ADVISE:
		advise_as_recorded(&context->mappings[step->mapping], step, figures);
		break;
	case PLAN_MAPPED:
		step_runner_advise_all(&context->mappings[step->mapping], figures);
		break;
	case PLAN_SIGNAL:
		step_runner_signal(&context->signals[step->mapping]);
		break;
	case PLAN_WAIT:
		step_runner_wait(&context->signals[step->mapping]);
		break;
	}
}

void step_runner_run(const struct step_context *context, const struct plan_step *steps, size_t nr,
		     struct step_runner_figures *figures)
{
	struct rusage before, after;
	size_t i;

	getrusage(RUSAGE_THREAD, &before);
	for (i = 0; i < nr && !signals_caught; i++)
		step_run(context, &steps[i], figures);
	figures->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &after);
	figures->minor += after.ru_minflt - before.ru_minflt;
	figures->major += after.ru_majflt - before.ru_majflt;
}

void step_runner_warm_up(void)
{
	static uint8_t page[2 * PAGE_SIZE_MAX];
	static const struct plan_step steps[] = {
		{ .type = PLAN_RUN, .value = 1 },
		{ .type = PLAN_RUN, .value = 100000 },
		{ .type = PLAN_SLEEP, .value = 1 },
		{ .type = PLAN_TOUCH },
		{ .type = PLAN_ADVISE, .advice = MADV_NORMAL }, /* for no page */
		{ .type = PLAN_MAPPED },
		{ .type = PLAN_SIGNAL },
		{ .type = PLAN_WAIT },
	};
	const struct replayed_mapping mapping = { .data = page, .bytes = 0, .advice = -1 };
	uint32_t sent = 0;
	const struct step_context context = { &mapping, &sent };
	struct step_runner_figures figures = { 0 };

	step_runner_run(&context, steps, ARRAY_SIZE(steps), &figures);
}
