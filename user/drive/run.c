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

#include "collect/instruments.h"
#include "drive/run.h"
#include "run/measurement.h"
#include "run/result.h"
#include "system/machine.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "workload/file_cache.h"
#include "workload/pattern.h"

/*
 * Executes a run's workload in this thread. eBPF watches the thread only meanwhile. Everything the
 * measured lines touch is touched before, so the faults in between belong to the mapping. As an
 * eBPF target the thread makes two getrusage(2) calls for each phase and, with some clocks, two
 * clock calls. It makes no other system calls itself.
 */

struct phases_plan {
	const struct workload *workload;
	const struct pattern *pattern;
	struct mapping *mapping;
	const char *name;	     /* describes the mapping, in sentences */
	const struct policy *policy; /* applied before the accesses, NULL if none */
	struct instruments *instruments;
	const struct extras *extras;
	struct pattern_watch *watch;
};

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

/* Makes the workload's phases. Returns STATUS_OK, or the exit status after a message. */
static int phases_make(struct phases *phases, const struct phases_plan *plan)
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

/* Times and usage of the accesses, and since the first phase. */
static void phases_fill_counters(const struct phases *phases, struct run_counters *counters)
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

/* bytes: the mapping's size; to_file: msync wrote them to a file. */
static void phases_fill_figures(const struct phases *phases, uint64_t bytes, bool to_file,
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
