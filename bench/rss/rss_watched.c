// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets the toucher make the steps as the target of a measurement. Which step a fault belongs to is
 * known only after all steps, so the faults are kept until then.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench/rss/rss_toucher.h"
#include "bench/rss/rss_watched.h"
#include "run/measurement.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/file_cache.h"

/* A process touching a few bytes has few faults. */
#define KEPT_MAX 256

struct watched {
	const struct rss_plan *plan;
	struct rss_report *report;
	struct rss_toucher toucher;
	struct measurement measurement;
	struct result result;
	struct explained kept[KEPT_MAX];
	unsigned int nr_kept;
};

static int rss_keep_fault(void *context, const struct explained *fault)
{
	struct watched *watched = context;

	if (watched->nr_kept == KEPT_MAX)
		return -E2BIG;
	watched->kept[watched->nr_kept++] = *fault;
	return 0;
}

/* The source refuses a file before the page cache is touched. */
static int rss_open_measurement(struct watched *watched)
{
	const struct rss_plan *plan = watched->plan;
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
		.listener = rss_keep_fault,
		.listener_context = watched,
	};
	int err = measurement_open(&watched->measurement, &options, &watched->result);

	return measurement_status(&watched->measurement, err);
}

static int rss_prepare_cache(const struct watched *watched)
{
	const struct rss_plan *plan = watched->plan;
	uint64_t resident;

	return cache_state_prepare(plan->mapping, plan->name, plan->warm, &resident);
}

static int rss_hold(struct watched *watched)
{
	const struct rss_report *report = watched->report;
	struct measurement *measurement = &watched->measurement;
	int err;

	err = rss_toucher_hold(&watched->toucher, watched->plan->mapping, report->steps,
			       report->nr_steps);
	if (err)
		return message(STATUS_FAILED, "cannot start a process: %s", strerror(-err));
	err = measurement_follow(measurement, watched->toucher.pid, false) ?:
		      measurement_start(measurement);
	return measurement_status(measurement, err);
}

static int rss_touch(struct watched *watched)
{
	struct rss_report *report = watched->report;
	const char *name = watched->plan->name;
	unsigned int step = 0;
	int err;

	err = rss_toucher_go(&watched->toucher, report->steps, report->nr_steps, &step);
	if (err == -EINTR)
		return signals_caught ? 128 + signals_caught :
					message(STATUS_FAILED,
						"the process that touched %s was killed", name);
	if (err == -EFAULT)
		return message(STATUS_FAILED, "byte %" PRIu64 " of %s cannot be accessed: %s",
			       report->steps[step].offset, name,
			       mapping_loss(watched->plan->mapping));
	if (err)
		return message(STATUS_FAILED,
			       "the process cannot map %s, or look at its own "
			       "size: %s",
			       name, strerror(-err));
	return STATUS_OK;
}

static int rss_gather(struct watched *watched)
{
	const struct run_counters *counters = &watched->result.counters;
	struct rss_report *report = watched->report;
	unsigned int i;
	int status;

	measurement_stop(&watched->measurement);
	status = measurement_finish(&watched->measurement);
	if (status)
		return status;
	strcpy(report->environment.source, watched->result.report.environment.source);
	report->lost = counters->lost;
	if (counters->have_bpf)
		report->lost += run_counters_events_lost(counters) +
				counters->counts[PFSTAT_COUNT_SYSCALL_LOST];
	report->bpf_missing = watched->plan->bpf ? NULL : "--no-bpf was given";
	for (i = 0; i < watched->nr_kept; i++)
		rss_steps_add_fault(report, &watched->kept[i]);
	return STATUS_OK;
}

int rss_watched(const struct rss_plan *plan, struct rss_report *report)
{
	struct watched watched = {
		.plan = plan,
		.report = report,
		.toucher = TOUCHER_NONE,
		.measurement = MEASUREMENT_NONE,
	};
	int status;

	result_init(&watched.result);
	status = rss_open_measurement(&watched)	     ?:
			 rss_prepare_cache(&watched) ?:
			 rss_hold(&watched)	     ?:
			 rss_touch(&watched)	     ?:
						       rss_gather(&watched);
	rss_toucher_close(&watched.toucher);
	measurement_close(&watched.measurement);
	result_free(&watched.result);
	return status;
}
