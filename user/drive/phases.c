// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executes a run's workload in this thread. eBPF watches the thread only meanwhile. Everything the
 * measured lines touch is touched before, so the faults in between belong to the mapping. As an
 * eBPF target the thread makes two getrusage(2) calls for each phase and, with some clocks, two
 * clock calls. It makes no other system calls itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "collect/instruments.h"
#include "drive/phases.h"
#include "run/result.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

static void phase_begin(struct phases *phases, enum step step)
{
	struct phase_marks *marks = &phases->marks[step];

	phases->now = step;
	marks->made = true;
	getrusage(RUSAGE_THREAD, &marks->before);
	marks->start_ns = clock_monotonic_ns();
}

static void phase_end(struct phases *phases, enum step step)
{
	struct phase_marks *marks = &phases->marks[step];

	marks->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &marks->after);
}

/* Code and data of both, so their faults happen before. */
static void phase_warm_up(void)
{
	struct phases phases;

	phase_begin(&phases, STEP_ACCESS);
	phase_end(&phases, STEP_ACCESS);
}

static int phase_populate(struct phases *phases, const struct phases_plan *plan)
{
	int err;

	if (!plan->workload->populate)
		return 0;
	phase_begin(phases, STEP_POPULATE);
	err = mapping_populate(plan->mapping, &signals_caught);
	phase_end(phases, STEP_POPULATE);
	return err;
}

static int phase_fill(struct phases *phases, const struct phases_plan *plan)
{
	int err;

	if (!plan->workload->fill)
		return 0;
	phase_begin(phases, STEP_MEMSET);
	mapping_fill(plan->mapping, &signals_caught);
	phase_end(phases, STEP_MEMSET);
	phase_begin(phases, STEP_MSYNC);
	err = mapping_sync(plan->mapping);
	phase_end(phases, STEP_MSYNC);
	return err;
}

static int phase_access(struct phases *phases, const struct phases_plan *plan)
{
	int err = 0;

	phase_begin(phases, STEP_ACCESS);
	if (plan->policy)
		err = mapping_advise(plan->mapping, plan->policy, &signals_caught);
	if (!err) {
		extras_begin(plan->extras);
		pattern_run(plan->pattern, plan->mapping->data, plan->watch);
		extras_end(plan->extras);
	}
	phase_end(phases, STEP_ACCESS);
	return err;
}

static int phases_make_watched(struct phases *phases, const struct phases_plan *plan)
{
	const pid_t tid = gettid();
	int err;

	pattern_warm_up(plan->pattern);
	mapping_warm_up();
	extras_prepare(plan->extras);
	phase_warm_up();
	signals_bus_armed = 1;
	err = instruments_begin_thread(plan->instruments, tid) ?:
		      phase_populate(phases, plan)	       ?:
		      phase_fill(phases, plan)		       ?:
		      phase_access(phases, plan)	       ?:
		      instruments_end_thread(plan->instruments, tid);
	signals_bus_armed = 0;
	return err;
}

/* A store to a page without space on the disk fails like a load from a missing page. */
static int phases_report_bus(const struct phases *phases, const struct phases_plan *plan)
{
	static const char *const doing[NR_STEPS] = { "populating it", "memset", "msync",
						     "the accesses" };
	const char *why = mapping_loss(plan->mapping);

	if (phases->now == STEP_ACCESS)
		return message(STATUS_FAILED,
			       "%s cannot be accessed after %" PRIu64 " accesses: %s", plan->name,
			       plan->watch->done, why);
	return message(STATUS_FAILED, "%s cannot be accessed during %s: %s", plan->name,
		       doing[phases->now], why);
}

int phases_make(struct phases *phases, const struct phases_plan *plan)
{
	static const char *const doing[NR_STEPS] = { "populate", "fill", "sync", "access" };
	int err;

	if (sigsetjmp(signals_bus, 1)) {
		signals_bus_armed = 0;
		return phases_report_bus(phases, plan);
	}
	err = phases_make_watched(phases, plan);
	if (signals_caught)
		return 128 + signals_caught;
	if (instruments_thread_err(plan->instruments))
		return message(
			STATUS_FAILED,
			"cannot set the thread that eBPF watches: %s; use --no-bpf to measure "
			"without eBPF",
			strerror(-err));
	/* madvise(2) returns it where an access would get a SIGBUS. */
	if (err == -EFAULT && (phases->now == STEP_POPULATE || phases->now == STEP_ACCESS))
		return phases_report_bus(phases, plan);
	return err ? message(STATUS_FAILED, "cannot %s %s: %s", doing[phases->now], plan->name,
			     strerror(-err)) :
		     STATUS_OK;
}

void phases_fill_counters(const struct phases *phases, struct run_counters *counters)
{
	const struct phase_marks *last = &phases->marks[STEP_ACCESS], *first = phases->marks;

	while (!first->made)
		first++;
	counters->counts_start_ns = first->start_ns;
	counters->start_ns = last->start_ns;
	counters->end_ns = last->end_ns;
	counters->usage = usage_between(&first->before, &last->after);
}

/* An access touches one byte of a page, or a line that moves, so a rate would mislead. */
static bool phase_has_bytes(enum step step, bool to_file)
{
	return step != STEP_ACCESS && (step != STEP_MSYNC || to_file);
}

void phases_fill_figures(const struct phases *phases, uint64_t bytes, bool to_file,
			 struct step_figures figures[NR_STEPS])
{
	const struct phase_marks *marks;
	enum step step;

	for (step = 0; step < NR_STEPS; step++) {
		marks = &phases->marks[step];
		figures[step] = (struct step_figures){ .made = marks->made };
		if (!marks->made)
			continue;
		figures[step].elapsed_ns = marks->end_ns - marks->start_ns;
		figures[step].bytes = phase_has_bytes(step, to_file) ? bytes : COUNT_NA;
		figures[step].usage = usage_between(&marks->before, &marks->after);
	}
}
