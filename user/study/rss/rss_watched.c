// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets the toucher make its steps as the target of a measurement. To which step a fault belongs
 * is known when all are made, so the faults are kept until then.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "run/measurement.h"
#include "study/rss/rss_walker.h"
#include "study/rss/rss_watched.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/cache_state.h"

/* A process that touches a few bytes has few faults. */
#define KEPT_MAX 256

struct watched {
	const struct touch_plan *plan;
	struct touch_report *report;
	struct walker walker;
	struct measurement measurement;
	struct result result;
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

/* What the module refuses is refused before the page cache is touched. */
static int open_measurement(struct watched *watched)
{
	const struct touch_plan *plan = watched->plan;
	const struct measurement_options options = {
		.instruments = {
			.bpf = plan->bpf,
			.bpf_missing = "--no-bpf was given",
			.fault_around = plan->fault_around,
			.only_fd = plan->mapping->fd,
			.tick_ms = -1,
			.no_counters = true,
		},
		.exact = true,
		.listener = keep,
		.listener_context = watched,
	};
	int err = measurement_open(&watched->measurement, &options, &watched->result);

	return measurement_status(&watched->measurement, err);
}

static int prepare_cache(const struct watched *watched)
{
	const struct touch_plan *plan = watched->plan;
	uint64_t resident;

	return page_cache_prepare(plan->mapping, plan->name, plan->warm, &resident);
}

static int hold(struct watched *watched)
{
	const struct touch_report *report = watched->report;
	struct measurement *measurement = &watched->measurement;
	int err;

	err = walker_hold(&watched->walker, watched->plan->mapping, report->steps,
			  report->nr_steps);
	if (err)
		return message(STATUS_FAILED, "cannot start a process: %s", strerror(-err));
	err = measurement_follow(measurement, watched->walker.pid, false) ?:
	      measurement_start(measurement);
	return measurement_status(measurement, err);
}

static int walk(struct watched *watched)
{
	struct touch_report *report = watched->report;
	const char *name = watched->plan->name;
	unsigned int step = 0;
	int err;

	err = walker_go(&watched->walker, report->steps, report->nr_steps, &step);
	if (err == -EINTR)
		return signals_caught ? 128 + signals_caught :
		       message(STATUS_FAILED, "the process that touched %s was killed", name);
	if (err == -EFAULT)
		return message(STATUS_FAILED, "byte %" PRIu64 " of %s cannot be accessed: %s",
			       report->steps[step].offset, name,
			       mapping_loss(watched->plan->mapping));
	if (err)
		return message(STATUS_FAILED, "the process cannot map %s, or look at its own "
			       "size: %s", name, strerror(-err));
	return STATUS_OK;
}

static int gather(struct watched *watched)
{
	const struct run_counters *counters = &watched->result.counters;
	struct touch_report *report = watched->report;
	unsigned int i;
	int status;

	measurement_stop(&watched->measurement);
	status = measurement_finish(&watched->measurement);
	if (status)
		return status;
	report->lost = counters->lost;
	if (counters->have_bpf)
		report->lost += counters->counts[PFSTAT_COUNT_EVENTS_LOST] +
				counters->counts[PFSTAT_COUNT_SYSCALL_LOST];
	report->bpf_missing = watched->plan->bpf ? NULL : "--no-bpf was given";
	for (i = 0; i < watched->nr_kept; i++)
		touch_add_fault(report, &watched->kept[i]);
	return STATUS_OK;
}

int touch_watched(const struct touch_plan *plan, struct touch_report *report)
{
	struct watched watched = {
		.plan = plan, .report = report, .walker = WALKER_NONE,
		.measurement = MEASUREMENT_NONE,
	};
	int status;

	result_init(&watched.result);
	status = open_measurement(&watched) ?:
		 prepare_cache(&watched) ?:
		 hold(&watched) ?:
		 walk(&watched) ?:
		 gather(&watched);
	walker_close(&watched.walker);
	measurement_close(&watched.measurement);
	result_free(&watched.result);
	return status;
}
