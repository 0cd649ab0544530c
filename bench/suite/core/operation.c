// SPDX-License-Identifier: GPL-2.0-only
/*
 * The services called by an operation: the timed part (bench_start, bench_stop), the refusal, and
 * helper processes. Times and getrusage(2) go into bench->window. The clocks are read innermost, so
 * the counters' own cost is not timed.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/suite/core/operation.h"
#include "model/counters.h"
#include "util/counter.h"
#include "util/time_ns.h"

static void bench_read_usage(struct bench_counts *counts)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	counts->event[BENCH_SWITCHES] =
		own.ru_nvcsw + own.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw;
	counts->event[BENCH_SYSCALLS] = COUNT_NA;
	counts->event[BENCH_MAJOR] = own.ru_majflt + children.ru_majflt;
	counts->event[BENCH_FAULTS] =
		own.ru_minflt + children.ru_minflt + counts->event[BENCH_MAJOR];
}

void bench_start(struct bench *bench)
{
	if (bench->at_bracket)
		bench->at_bracket(bench->bracket_context, true);
	bench_read_usage(&bench->before);
	bench->start_ns = clock_monotonic_ns();
	bench->start_cycles = isnan(bench->machine->cycle_ns) ? 0 : counter_read();
}

void bench_stop(struct bench *bench)
{
	const uint64_t cycles = isnan(bench->machine->cycle_ns) ? 0 : counter_read();
	const uint64_t ns = clock_monotonic_ns();
	struct bench_window *window = &bench->window;
	struct bench_counts after;
	enum bench_event event;

	bench_read_usage(&after);
	window->ns += ns - bench->start_ns;
	window->cycles += cycles - bench->start_cycles;
	window->brackets++;
	for (event = 0; event < BENCH_NR_EVENTS; event++)
		if (after.event[event] == COUNT_NA)
			window->usage.event[event] = COUNT_NA;
		else
			window->usage.event[event] +=
				after.event[event] - bench->before.event[event];
	if (bench->at_bracket)
		bench->at_bracket(bench->bracket_context, false);
}

int bench_refuse(struct bench *bench, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	why_vset(bench->why, format, arguments);
	va_end(arguments);
	return err;
}

pid_t bench_fork(void)
{
	const pid_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it exited before prctl() */
		_exit(EXIT_FAILURE);
	return 0;
}

const char *bench_unit_name(enum bench_unit unit)
{
	static const char *const names[] = {
		[BENCH_NS] = "ns",
		[BENCH_MBS] = "MB/s",
		[BENCH_BYTES] = "bytes",
	};

	return names[unit];
}
