// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a pattern over a mapping, as a client of a measurement: prepare the page cache, hook the
 * mapping, make the phases, store what only this process knows. All checks of the request come
 * before the page cache is changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "drive/phases.h"
#include "drive/run.h"
#include "run/measurement.h"
#include "system/machine.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/cache_state.h"
#include "workload/pattern.h"
#include "workload/stores.h"

/* The collector's thread prints the progress at each tick; the accesses only count. */
struct progress {
	const struct pattern_watch *watch;
	uint64_t accesses;
	unsigned int number, of;
	bool shown;
};

#define TICK_MS 500

/* Returns -1 if standard error is not a terminal, so no tick is needed. */
static int progress_tick_ms(void)
{
	return isatty(STDERR_FILENO) ? TICK_MS : -1;
}

static void progress_tick(void *context)
{
	struct progress *progress = context;
	unsigned int percent = 100.0 * progress->watch->done / progress->accesses;

	fputs("\r", stderr);
	if (progress->of > 1)
		fprintf(stderr, "run %u of %u, ", progress->number, progress->of);
	fprintf(stderr, "%u %% ", percent);
	fflush(stderr);
	progress->shown = true;
}

/* Removes the line. */
static void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

#define EVENTS_RING_MIN (1U << 20)
#define EVENTS_RING_MAX (16U << 20)
/* A request (80 bytes), an off-CPU interval (48), and as much again. */
#define EVENT_BYTES_OF_PAGE 256

struct run {
	const struct run_plan *plan;
	struct result *result;
	struct measurement measurement;
	struct phases phases;
	struct pattern_watch watch;
	struct progress progress;
};

static void run_describe_memory(struct environment *environment, const struct run_plan *plan)
{
	const struct workload *workload = &plan->options->workload;

	workload_name(workload, environment->map, sizeof(environment->map));
	if (workload->kind == MAPPING_ANON)
		strcpy(environment->backing, "anonymous");
	else
		strcpy(environment->backing, workload->scratch ? "scratch" : "file");
	environment->store_share = (double)plan->pattern->store_share / STORES_ALL;
	if (workload->fill)
		strcpy(environment->fill, "msync");
}

static void run_describe(const struct run_plan *plan, struct report *report)
{
	struct environment *environment = &report->environment;

	mapping_describe(plan->mapping, plan->name, environment);
	run_describe_memory(environment, plan);
	strcpy(environment->kind, "drive");
	if (plan->mapping->kind != MAPPING_ANON)
		strcpy(environment->cache, plan->options->warm ? "warm" : "cold");
	/* options_parse() has refused a longer one. */
	strcpy(environment->pattern, plan->options->pattern_text);
	environment->accesses = plan->pattern->accesses;
	environment->seed = plan->pattern->seed;
	environment->pinned_cpu = plan->options->cpu;
	environment->fault_around = plan->options->fault_around;
	environment->ring_bytes = PFSTAT_RING_SIZE_DEFAULT;
	environment->started_s = time(NULL);
	report->drive.repeat = plan->number;
	report->drive.repeats = plan->options->repeats;
}

/*
 * The reader wakes up when the event ring is half full. On a machine with one CPU the reader then
 * runs instead of the accesses, and a fault waits for it. So the ring has twice the space that the
 * first faults of all pages can need, within bounds.
 */
static uint32_t run_events_ring_bytes(const struct mapping *mapping)
{
	uint32_t bytes = EVENTS_RING_MIN;

	while (bytes < EVENTS_RING_MAX && bytes / 2 < mapping->pages * EVENT_BYTES_OF_PAGE)
		bytes *= 2;
	return bytes;
}

static int run_open(struct run *run)
{
	const struct run_plan *plan = run->plan;
	const struct options *options = plan->options;
	const struct measurement_options measurement_options = {
		.instruments = {
			.source = options->source,
			/* A study's tables need calls, which a loaded module records. */
			.whole_faults = access("/sys/module/pfstat", F_OK),
			.bpf = options->bpf,
			.bpf_missing = "--no-bpf was given",
			.events = {
				.pages = true, .swap = plan->load,
				.ring_bytes = run_events_ring_bytes(plan->mapping),
			},
			.ring_size = options->ring_size,
			.fault_around = options->fault_around,
			.only_fd = -1,
			.detach_later = plan->last,
			.cpus = plan->cpus,
			.tick_ms = progress_tick_ms(),
			.tick = progress_tick,
			.tick_context = &run->progress,
		},
		.hooks_nothing = plan->mapping->kind == MAPPING_ANON,
		.keeps_privileges = !plan->last,
		.groups = options->record ? REPORT_PLACES :
					    1U << GROUP_BY_FILE | 1U << GROUP_BY_THREAD,
		.listener = plan->listener,
		.listener_context = plan->listener_context,
	};
	int err = extras_open(&run->result->extras, &options->extras, options->cpu);

	if (err)
		return message(STATUS_FAILED, "cannot prepare the counters: %s", strerror(-err));
	err = measurement_open(&run->measurement, &measurement_options, run->result);
	return measurement_status(&run->measurement, err);
}

static int run_count_pages(const struct run_plan *plan, struct report *report)
{
	int err = pattern_pages(plan->pattern, &signals_caught, &report->drive.pages_touched) ?:
			  pattern_pages_written(plan->pattern, &signals_caught,
						&report->drive.pages_written);

	if (err == -EINTR)
		return 128 + signals_caught;
	return err ? message(STATUS_FAILED, "cannot count the pages visited: %s", strerror(-err)) :
		     STATUS_OK;
}

static int run_prepare_cache(struct run *run)
{
	const struct run_plan *plan = run->plan;
	uint64_t *resident = &run->result->report.environment.resident_pages;

	*resident = COUNT_NA;
	if (plan->mapping->kind == MAPPING_ANON)
		return STATUS_OK;
	return cache_state_prepare(plan->mapping, plan->name, plan->options->warm, resident);
}

/* A recording's head holds everything known before the first event. */
static int run_record(struct run *run)
{
	const char *path = run->plan->options->record;

	if (!path)
		return STATUS_OK;
	return run_count_pages(run->plan, &run->result->report) ?:
		       measurement_record(&run->measurement, path);
}

static int run_hook(struct run *run)
{
	struct measurement *measurement = &run->measurement;
	struct mapping *mapping = run->plan->mapping;
	int err = mapping_map(mapping);

	if (err)
		return message(STATUS_FAILED, "cannot map %s, %" PRIu64 " bytes: %s",
			       run->plan->name, mapping->bytes, strerror(-err));
	err = measurement_record_maps(measurement, mapping, run->result->report.environment.file);
	if (!err)
		err = mapping->kind == MAPPING_ANON ?
			      measurement_hook_nothing(measurement) :
			      measurement_hook_file(measurement, mapping->fd, run->plan->name);
	return measurement_status(measurement, err);
}

static int run_start(struct run *run)
{
	run->progress = (struct progress){
		.watch = &run->watch,
		.accesses = run->plan->pattern->accesses,
		.number = run->plan->number,
		.of = run->plan->options->repeats,
	};
	instruments_hold_thread(run->measurement.instruments, gettid());
	return measurement_status(&run->measurement, measurement_start(&run->measurement));
}

static int run_make_phases(struct run *run)
{
	const struct run_plan *plan = run->plan;
	const struct phases_plan phases_plan = {
		.workload = &plan->options->workload,
		.pattern = plan->pattern,
		.mapping = plan->mapping,
		.name = plan->name,
		.policy = plan->policy,
		.instruments = run->measurement.instruments,
		.extras = &run->result->extras,
		.watch = &run->watch,
	};

	measurement_keep_recording(&run->measurement);
	return phases_make(&run->phases, &phases_plan);
}

/* Swap is counted only while something competes for memory. */
static int run_make_beside(struct run *run)
{
	struct run_load *load = run->plan->load;
	int status;

	if (!load)
		return run_make_phases(run);
	status = load->begin(load);
	if (status)
		return status;
	instruments_count_swap(run->measurement.instruments, true);
	load->go(load);
	status = run_make_phases(run) ?: load->end(load);
	instruments_count_swap(run->measurement.instruments, false);
	return status ?: load->close(load);
}

static int run_gather_extras(struct run *run)
{
	int err = extras_gather(&run->result->extras, &run->plan->options->extras,
				run->plan->mapping, &run->result->report.extras);

	return err ? message(STATUS_FAILED, "cannot read the counters or the memory map: %s",
			     strerror(-err)) :
		     STATUS_OK;
}

/* Stores the counters known only to this process. */
static void run_fill_counters(struct run *run)
{
	const struct mapping *mapping = run->plan->mapping;
	struct report *report = &run->result->report;
	struct run_counters *counters = &run->result->counters;

	phases_fill_counters(&run->phases, counters);
	/* Copies of a private mapping's pages are not the file's faults. */
	counters->hooked_only = mapping->kind == MAPPING_SHARED || !mapping->writable;
	/* This program's own memory may be swapped then, also at the phases' edges. */
	if (run->plan->load) {
		counters->hooked_only = false;
		counters->edges = true;
	}
	phases_fill_figures(&run->phases, mapping->bytes, mapping->kind == MAPPING_SHARED,
			    report->drive.steps);
	report->time.elapsed_ns = report->drive.steps[STEP_ACCESS].elapsed_ns;
}

static int run_finish(struct run *run)
{
	measurement_stop(&run->measurement);
	progress_end(&run->progress);
	run_fill_counters(run);
	return measurement_finish(&run->measurement);
}

/* The instruments are opened before enter(), so that nothing competes with their memory. */
static int run_make(struct run *run)
{
	struct run_load *load = run->plan->load;

	return run_open(run)				      ?:
		       (load ? load->enter(load) : STATUS_OK) ?:
		       run_prepare_cache(run)		      ?:
		       run_record(run)			      ?:
		       run_hook(run)			      ?:
		       run_start(run)			      ?:
		       run_make_beside(run)		      ?:
		       run_gather_extras(run)		      ?:
								run_finish(run);
}

int run_once(const struct run_plan *plan, struct result *result)
{
	struct run run = {
		.plan = plan,
		.result = result,
		.measurement = MEASUREMENT_NONE,
		.watch = { .stop = &signals_caught },
	};
	int status;

	result_init(result);
	run_describe(plan, &result->report);
	status = run_make(&run);
	measurement_stop(&run.measurement);
	progress_end(&run.progress);
	measurement_close(&run.measurement);
	mapping_unmap(plan->mapping);
	if (!status && !plan->options->record)
		status = run_count_pages(plan, &result->report);
	return status;
}
