// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "collect/instruments.h"
#include "compete/contest.h"
#include "privilege/reduce.h"
#include "run/phases.h"
#include "run/progress.h"
#include "run/recording_output.h"
#include "run/run.h"
#include "symbols/code_names.h"
#include "system/machine_state.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/cache_state.h"
#include "workload/store_mix.h"

#define EVENTS_RING_MIN (1U << 20)
#define EVENTS_RING_MAX (16U << 20)
/* A request (80 bytes), a stay off the CPU (48), and as much again. */
#define EVENT_BYTES_OF_PAGE 256

struct run {
	const struct run_plan *plan;
	struct report *report;
	struct result *result;
	struct instruments *instruments;
	struct recording_output recording;
	int analysis_err;	/* the first; the recording goes on */
	bool stopped;		/* the instruments are */
	char why[512];		/* that failed; "": it did not */
	struct pattern_watch watch;
	struct progress progress;
	struct steps steps;
	volatile enum step step;	/* the one that is being made */
	int nothing_fd;		/* of a file that nobody maps; -1: a file is watched */
};

static int interrupted(void)
{
	return 128 + interrupt_signal;
}

static int on_item(void *context, const struct item *item)
{
	struct run *run = context;

	recording_output_item(&run->recording, item);	/* recording_output_end() reports errors */
	if (!run->analysis_err)
		run->analysis_err = analysis_add(run->result->analysis, item);
	return run->recording.writer ? 0 : run->analysis_err;
}

/*
 * The reader wakes up when the ring of events is half full. On a machine with one CPU it runs
 * instead of the accesses then, and a fault waits for it. So the ring is twice as large as what
 * the first fault of every page can need, within bounds.
 */
static uint32_t events_ring_bytes(const struct mapping *mapping)
{
	uint32_t bytes = EVENTS_RING_MIN;

	while (bytes < EVENTS_RING_MAX && bytes / 2 < mapping->pages * EVENT_BYTES_OF_PAGE)
		bytes *= 2;
	return bytes;
}

/* Whatever can refuse does so before the page cache is touched. */
static int open_instruments(struct run *run)
{
	const struct options *options = run->plan->options;
	const struct instruments_options instruments_options = {
		.bpf = options->bpf,
		.bpf_missing = "--no-bpf was given",
		.events = {
			.pages = true, .swap = run->plan->contest,
			.ring_bytes = events_ring_bytes(run->plan->mapping),
		},
		.ring_size = options->ring_size,
		.fault_around = options->fault_around,
		.only_fd = run->nothing_fd,
		.sink = on_item,
		.sink_context = run,
		.cpus = run->plan->cpus,
		.tick_ms = progress_tick_ms(),
		.tick = progress_tick,
		.tick_context = &run->progress,
	};
	char why[512];
	int err;

	if (run->plan->mapping->kind == MAPPING_ANON && run->nothing_fd < 0)
		return complain(STATUS_FAILED, "cannot open /dev/null: %s", strerror(errno));
	run->result->analysis = analysis_new(options->bpf,
					     options->record ? 1U << GROUP_BY_CODE : 0);
	if (!run->result->analysis ||
	    (run->plan->listener &&
	     analysis_listen(run->result->analysis, run->plan->listener,
			     run->plan->listener_context)))
		return complain(STATUS_FAILED, "out of memory");
	err = instruments_open(&run->instruments, &instruments_options, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
}

static int prepare_cache(struct run *run)
{
	const struct run_plan *plan = run->plan;
	uint64_t *resident = &run->report->environment.resident_pages;

	*resident = COUNT_NA;
	if (plan->mapping->kind == MAPPING_ANON)
		return STATUS_OK;
	return page_cache_prepare(plan->mapping, plan->name, plan->options->warm, resident);
}

/* Where no other run follows, which would have to be prepared. */
static int give_up_privileges(const struct run *run)
{
	const struct run_plan *plan = run->plan;

	if (plan->number < plan->options->repeats || plan->options->compete.text)
		return STATUS_OK;
	return rights_reduce();
}

static int hook(struct run *run)
{
	const struct options *options = run->plan->options;
	struct mapping *mapping = run->plan->mapping;
	const char *name = run->plan->name;
	char why[512];
	int err;

	err = mapping_map(mapping);
	if (err)
		return complain(STATUS_FAILED, "cannot map %s, %" PRIu64 " bytes: %s", name,
				mapping->bytes, strerror(-err));
	if (options->record)
		err = recording_output_self(on_item, run);
	if (!err)
		err = recording_output_map(&run->recording, mapping,
					   run->report->environment.file);
	if (err)
		return complain(STATUS_FAILED, "cannot record: %s", strerror(-err));
	if (mapping->kind == MAPPING_ANON)
		err = instruments_hook_nothing(run->instruments, why, sizeof(why));
	else
		err = instruments_hook_file(run->instruments, mapping->fd, name, why, sizeof(why));
	if (err)
		return complain(STATUS_FAILED, "%s", why);
	run->progress = (struct progress){
		.watch = &run->watch,
		.accesses = run->plan->pattern->accesses,
		.number = run->plan->number,
		.of = options->repeats,
	};
	instruments_hold_thread(run->instruments, gettid());
	if (give_up_privileges(run))
		return STATUS_FAILED;
	if (instruments_go(run->instruments, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	return STATUS_OK;
}

static void begin(struct run *run, enum step step)
{
	run->step = step;
	step_begin(&run->steps, step);
}

static int populate(struct run *run)
{
	int err;

	if (!run->plan->options->workload.populate)
		return 0;
	begin(run, STEP_POPULATE);
	err = mapping_populate(run->plan->mapping, &interrupt_signal);
	step_end(&run->steps, STEP_POPULATE);
	return err;
}

static int fill(struct run *run)
{
	int err;

	if (!run->plan->options->workload.fill)
		return 0;
	begin(run, STEP_MEMSET);
	mapping_fill(run->plan->mapping, &interrupt_signal);
	step_end(&run->steps, STEP_MEMSET);
	begin(run, STEP_MSYNC);
	err = mapping_sync(run->plan->mapping);
	step_end(&run->steps, STEP_MSYNC);
	return err;
}

static int access_pages(struct run *run)
{
	const struct run_plan *plan = run->plan;
	int err = 0;

	begin(run, STEP_ACCESS);
	if (plan->policy)
		err = mapping_advise(plan->mapping, plan->policy, &interrupt_signal);
	if (!err) {
		measure_begin(&run->result->measure);
		pattern_run(plan->pattern, plan->mapping->data, &run->watch);
		measure_end(&run->result->measure);
	}
	step_end(&run->steps, STEP_ACCESS);
	return err;
}

/*
 * Everything that the measured lines touch is touched before, so that the
 * thread's faults in between are the memory's alone. As a target of eBPF the
 * thread makes the system calls of the steps: getrusage() on either side of
 * each, and with some clocks the two of the clock.
 */
static int make_steps(struct run *run)
{
	const pid_t tid = gettid();
	int err;

	pattern_warm_up(run->plan->pattern);
	mapping_warm_up();
	measure_prepare(&run->result->measure);
	steps_warm_up();
	interrupt_bus_armed = 1;
	err = instruments_begin_thread(run->instruments, tid);

	if (!err)
		err = populate(run);
	if (!err)
		err = fill(run);
	if (!err)
		err = access_pages(run);

	if (!err)
		err = instruments_end_thread(run->instruments, tid);
	interrupt_bus_armed = 0;
	return err;
}

/* A store to a page that has no room on the disk ends like a load that has no page. */
static int complain_of_bus(const struct run *run)
{
	static const char *const doing[NR_STEPS] = {
		"populating it", "memset", "msync", "the accesses"
	};
	const char *why = mapping_loss(run->plan->mapping);

	if (run->step == STEP_ACCESS)
		return complain(STATUS_FAILED, "%s cannot be accessed after %" PRIu64
				" accesses: %s", run->plan->name, run->watch.done, why);
	return complain(STATUS_FAILED, "%s cannot be accessed during %s: %s", run->plan->name,
			doing[run->step], why);
}

static int drive(struct run *run)
{
	static const char *const doing[NR_STEPS] = { "populate", "fill", "sync", "access" };
	int err;

	if (sigsetjmp(interrupt_bus, 1)) {
		interrupt_bus_armed = 0;
		return complain_of_bus(run);
	}
	err = make_steps(run);
	if (interrupt_signal)
		return interrupted();
	if (instruments_thread_err(run->instruments))
		return complain(STATUS_FAILED, "cannot tell eBPF which thread to watch: %s; "
				"--no-bpf goes on without", strerror(-err));
	/* What is a SIGBUS to an access. */
	if (err == -EFAULT && (run->step == STEP_POPULATE || run->step == STEP_ACCESS))
		return complain_of_bus(run);
	return err ? complain(STATUS_FAILED, "cannot %s %s: %s", doing[run->step], run->plan->name,
			      strerror(-err)) : STATUS_OK;
}

/* From the first step's begin to the last one's end. */
static void take_rusage(struct run *run)
{
	const struct mapping *mapping = run->plan->mapping;
	struct run_counters *counters = &run->result->counters;
	const struct step_marks *marks = run->steps.marks;
	enum step first = 0;

	while (!marks[first].made)
		first++;
	/* As a report of it times them: of the accesses. */
	counters->counts_start_ns = marks[first].start_ns;
	counters->start_ns = marks[STEP_ACCESS].start_ns;
	counters->end_ns = marks[STEP_ACCESS].end_ns;
	/* Copies of a private mapping's pages are not the file's faults. */
	counters->hooked_only = mapping->kind == MAPPING_SHARED || !mapping->writable;
	/* This program's own memory may be swapped, too, at the steps' edges as well. */
	if (run->plan->contest) {
		counters->hooked_only = false;
		counters->edges = true;
	}
	counters->usage = usage_between(&marks[first].before, &marks[STEP_ACCESS].after);
	steps_figures(&run->steps, mapping->bytes, mapping->kind == MAPPING_SHARED,
		      run->report->steps);
	run->report->elapsed_ns = run->report->steps[STEP_ACCESS].elapsed_ns;
}

static int stop(struct run *run)
{
	int err = instruments_stop(run->instruments, &run->result->counters, run->why,
				   sizeof(run->why));

	run->stopped = true;
	if (!err)
		run->why[0] = '\0';
	progress_end(&run->progress);
	return err;
}

/* Stop the instruments, then finish the analysis, then read rusage. */
static int gather(struct run *run)
{
	int err = stop(run);

	take_rusage(run);
	/* keep_recording() says why, where there is a recording. */
	if (err)
		return run->recording.writer ? STATUS_FAILED :
					       complain(STATUS_FAILED, "%s", run->why);
	err = run->analysis_err ?: analysis_finish(run->result->analysis);
	if (err)
		return complain(STATUS_FAILED, "cannot explain what was recorded: %s",
				strerror(-err));
	return STATUS_OK;
}

static void fill_memory(struct environment *environment, const struct run_plan *plan)
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

static void fill_environment(const struct run *run)
{
	struct environment *environment = &run->report->environment;
	const struct run_plan *plan = run->plan;

	mapping_describe(plan->mapping, plan->name, environment);
	fill_memory(environment, plan);
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
	run->report->repeat = plan->number;
	run->report->repeats = plan->options->repeats;
}

static int count_pages(struct run *run)
{
	const struct pattern *pattern = run->plan->pattern;
	int err = pattern_pages(pattern, &interrupt_signal, &run->report->pages_touched);

	if (!err)
		err = pattern_pages_written(pattern, &interrupt_signal,
					    &run->report->pages_written);
	if (err == -EINTR)
		return interrupted();
	return err ? complain(STATUS_FAILED, "cannot count the pages visited: %s", strerror(-err)) :
		     STATUS_OK;
}

static int open_measure(struct run *run)
{
	const struct options *options = run->plan->options;
	int err = measure_open(&run->result->measure, &options->measure, options->cpu);

	return err ? complain(STATUS_FAILED, "cannot prepare the counters: %s", strerror(-err)) :
		     STATUS_OK;
}

static int gather_measure(struct run *run)
{
	int err = measure_gather(&run->result->measure, &run->plan->options->measure,
				 run->plan->mapping, &run->report->measures);

	return err ? complain(STATUS_FAILED, "cannot read the counters or the memory map: %s",
			      strerror(-err)) : STATUS_OK;
}

/* When all is known that the head of a recording says, and nothing was recorded yet. */
static int begin_recording(struct run *run)
{
	const struct options *options = run->plan->options;
	int status;

	if (!options->record)
		return STATUS_OK;
	status = count_pages(run);
	if (status)
		return status;
	run->report->have_bpf = options->bpf;
	return recording_output_begin(&run->recording, options->record, run->report);
}

static int end_recording(struct run *run)
{
	json_t *symbols = NULL;
	int err, status;

	if (!run->plan->options->record)
		return STATUS_OK;
	err = code_names_find(run->result->analysis, NULL, &symbols,
			      &run->result->counters.names_left_out);
	status = recording_output_end(&run->recording, err ? NULL : symbols,
				      &run->result->counters, NULL);
	json_decref(symbols);
	if (!status && err)
		status = complain(STATUS_FAILED, "cannot look up the names of code: %s; all else "
				  "is recorded, addresses stand for the names", strerror(-err));
	return status;
}

/* After an error, or a signal, in the middle of the run. */
static void keep_recording(struct run *run)
{
	if (!run->recording.going || !run->recording.writer)
		return;
	if (!run->stopped)
		stop(run);
	recording_output_end(&run->recording, NULL, &run->result->counters,
			     interrupt_signal ? "it was interrupted" :
			     run->why[0] ? run->why : "the run failed before its end");
}

/* The instruments' own memory is not of those who compete: they are open before. */
static int drive_contest(struct run *run)
{
	struct contest *contest = run->plan->contest;
	int status;

	status = contest ? contest_enter(contest) : STATUS_OK;
	if (!status)
		status = prepare_cache(run);
	if (!status)
		status = begin_recording(run);
	if (!status)
		status = hook(run);
	if (!status && contest)
		status = contest_begin(contest);
	if (status)
		return status;
	instruments_count_swap(run->instruments, contest);
	if (contest)
		contest_go(contest);
	recording_output_go(&run->recording);
	status = drive(run);
	if (!status && contest)
		status = contest_end(contest);
	instruments_count_swap(run->instruments, false);
	if (!status && contest)
		status = contest_close(contest);
	return status;
}

static int run_steps(struct run *run)
{
	int status;

	fill_environment(run);
	status = open_measure(run);
	if (!status)
		status = open_instruments(run);
	if (!status)
		status = drive_contest(run);
	if (!status)
		status = gather_measure(run);
	if (!status)
		status = gather(run);
	if (!status)
		status = end_recording(run);
	if (status)
		keep_recording(run);
	return status;
}

int run_once(const struct run_plan *plan, struct result *result)
{
	struct run run = {
		.plan = plan,
		.report = &result->report,
		.result = result,
		.watch = { .stop = &interrupt_signal },
		.nothing_fd = -1,
	};
	int status;

	*result = (struct result){ 0 };
	report_init(&result->report);
	run_counters_init(&result->counters);
	if (plan->mapping->kind == MAPPING_ANON)
		run.nothing_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	status = run_steps(&run);
	/* First who says something, then where it is written. */
	instruments_close(run.instruments);
	progress_end(&run.progress);
	recording_output_close(&run.recording);
	mapping_unmap(plan->mapping);
	if (run.nothing_fd >= 0)
		close(run.nothing_fd);
	if (!status && !plan->options->record)
		status = count_pages(&run);
	if (!status && report_fill(&result->report, result->analysis, &result->counters))
		status = complain(STATUS_FAILED, "out of memory");
	return status;
}

int result_check(const struct result *result, unsigned int number)
{
	const struct report *report = &result->report;
	struct summary_figures figures;

	summary_figures(report->summary, &figures);
	if (figures.calls + report->lost == report->calls)
		return STATUS_OK;
	return complain(STATUS_FAILED, "run %u: the module counted %" PRIu64 " calls, but %" PRIu64
			" records were read and %" PRIu64 " lost: do not trust these figures, and "
			"report a bug", number, report->calls, figures.calls, report->lost);
}

void result_free(struct result *result)
{
	report_exit(&result->report);
	free(result->competition);
	measure_close(&result->measure);
	analysis_free(result->analysis);
	run_counters_exit(&result->counters);
}
