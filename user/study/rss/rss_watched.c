// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/analysis.h"
#include "collect/instruments.h"
#include "privilege/reduce.h"
#include "study/rss/rss_walker.h"
#include "study/rss/rss_watched.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/cache_state.h"

/*
 * Which step a fault belongs to is known when all have been made: until then the faults
 * are kept. A process that touches a few bytes has few.
 */
#define KEPT_MAX 256

struct watched {
	const struct touch_plan *plan;
	struct touch_report *report;
	struct walker walker;
	struct instruments *instruments;
	struct analysis *analysis;
	struct run_counters counters;
	struct explained kept[KEPT_MAX];
	unsigned int nr_kept;
};

static int keep(void *context, const struct explained *fault)
{
	struct watched *watched = context;

	if (watched->nr_kept == KEPT_MAX)
		return -E2BIG;
	watched->kept[watched->nr_kept++] = *fault;
	return 0;
}

static int open_instruments(struct watched *watched)
{
	const struct touch_plan *plan = watched->plan;
	const struct instruments_options options = {
		.bpf = plan->bpf,
		.bpf_missing = "--no-bpf was given",
		.fault_around = plan->fault_around,
		.only_fd = plan->mapping->fd,
		.sink = analysis_add,
		.sink_context = watched->analysis,
		.tick_ms = -1,
		.no_counters = true,
	};
	char why[512];

	if (instruments_open(&watched->instruments, &options, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	return STATUS_OK;
}

static int hold(struct watched *watched)
{
	const struct touch_report *report = watched->report;
	struct instruments *instruments = watched->instruments;
	char why[512];
	int err;

	err = walker_hold(&watched->walker, watched->plan->mapping, report->steps,
			  report->nr_steps);
	if (err)
		return complain(STATUS_FAILED, "cannot start a process: %s", strerror(-err));
	if (instruments_follow(instruments, watched->walker.pid, false, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	if (rights_reduce())
		return STATUS_FAILED;
	if (instruments_go(instruments, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	return STATUS_OK;
}

static int walk(struct watched *watched)
{
	struct touch_report *report = watched->report;
	const char *name = watched->plan->name;
	unsigned int step = 0;
	int err;

	err = walker_go(&watched->walker, report->steps, report->nr_steps, &step);
	if (err == -EINTR)
		return interrupt_signal ? 128 + interrupt_signal :
		       complain(STATUS_FAILED, "the process that touched %s was killed", name);
	if (err == -EFAULT)
		return complain(STATUS_FAILED, "byte %" PRIu64 " of %s cannot be accessed: %s",
				report->steps[step].offset, name,
				mapping_loss(watched->plan->mapping));
	if (err)
		return complain(STATUS_FAILED, "the process cannot map %s, or look at its own "
				"size: %s", name, strerror(-err));
	return STATUS_OK;
}

static int gather(struct watched *watched)
{
	struct touch_report *report = watched->report;
	const struct run_counters *counters = &watched->counters;
	uint64_t records, events;
	char why[512];
	unsigned int i;
	int err;

	instruments_lost(watched->instruments, &records, &events);
	if (instruments_stop(watched->instruments, &watched->counters, why, sizeof(why)) ||
	    instruments_check_events(counters, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	err = analysis_finish(watched->analysis);
	if (err)
		return complain(STATUS_FAILED, "cannot explain what was recorded: %s",
				strerror(-err));
	report->lost = counters->lost + (events == COUNT_NA ? 0 : events);
	report->bpf_missing = watched->plan->bpf ? NULL : "--no-bpf was given";
	for (i = 0; i < watched->nr_kept; i++)
		touch_add_fault(report, &watched->kept[i]);
	return STATUS_OK;
}

static int make_steps(struct watched *watched)
{
	const struct touch_plan *plan = watched->plan;
	uint64_t resident;
	int status;

	watched->analysis = analysis_new(plan->bpf, 0);
	if (!watched->analysis || analysis_listen(watched->analysis, keep, watched))
		return complain(STATUS_FAILED, "out of memory");
	/* What the module refuses is refused before the page cache is touched. */
	status = open_instruments(watched);
	if (!status)
		status = page_cache_prepare(plan->mapping, plan->name, plan->warm, &resident);
	if (!status)
		status = hold(watched);
	if (!status)
		status = walk(watched);
	if (!status)
		status = gather(watched);
	return status;
}

int touch_watched(const struct touch_plan *plan, struct touch_report *report)
{
	struct watched watched = { .plan = plan, .report = report, .walker = WALKER_NONE };
	int status;

	run_counters_init(&watched.counters);
	status = make_steps(&watched);
	walker_close(&watched.walker);
	instruments_close(watched.instruments);
	analysis_free(watched.analysis);
	run_counters_exit(&watched.counters);
	return status;
}
