// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/events.h"
#include "collect/session.h"
#include "complain.h"
#include "engine/cache.h"
#include "engine/environment.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"

struct run {
	const struct run_plan *plan;
	struct report *report;
	struct session session;
	struct events *events;
	struct collector *collector;
	struct pattern_watch watch;
	struct progress progress;
	struct rusage before, after;
};

static int interrupted(void)
{
	return 128 + interrupt_signal;
}

static int on_item(void *context, const struct item *item)
{
	struct summary *summary = context;

	if (item->type == ITEM_RECORD)
		return summary_add_record(summary, item->record);
	if (item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_OFF_CPU)
		return summary_add_off_cpu(summary, (const struct pfstat_off_cpu *)item->event);
	return 0;
}

/* Whatever can refuse does so before the page cache is touched. */
static int open_instruments(struct run *run)
{
	const struct events_options events_options = { 0 };
	char why[512];
	int err;

	run->report->summary = summary_new();
	if (!run->report->summary)
		return complain(STATUS_FAILED, "out of memory");
	err = session_open(&run->session);
	if (err) {
		session_explain(err, why, sizeof(why));
		return complain(STATUS_FAILED, "%s", why);
	}
	if (!run->plan->options->bpf) {
		run->report->bpf_missing = "--no-bpf was given";
		return STATUS_OK;
	}
	err = events_open(&run->events, &events_options, why, sizeof(why));
	if (err)
		return complain(STATUS_FAILED, "%s", why);
	run->report->have_bpf = true;
	return STATUS_OK;
}

static int complain_of_cache(const struct run *run, int err, uint64_t resident)
{
	const char *file = run->plan->options->file;
	const uint64_t pages = run->plan->mapping->pages;

	if (err == -EINTR)
		return interrupted();
	if (err == -EBUSY)
		return complain(STATUS_FAILED, "%" PRIu64 " of %" PRIu64 " pages of %s stay in the "
				"page cache: end what maps or locks it, or use a file on a disk",
				resident, pages, file);
	if (err == -ENOSPC)
		return complain(STATUS_FAILED, "only %" PRIu64 " of %" PRIu64 " pages of %s stay "
				"in the page cache: use a smaller file, or more memory",
				resident, pages, file);
	return complain(STATUS_FAILED, "cannot %s %s: %s",
			run->plan->options->warm ? "read" : "drop the cached pages of", file,
			strerror(-err));
}

static int prepare_cache(struct run *run)
{
	const struct run_plan *plan = run->plan;
	uint64_t resident = 0;
	int err;

	if (plan->options->warm)
		err = cache_make_warm(plan->mapping, &interrupt_signal, &resident);
	else
		err = cache_make_cold(plan->mapping, &interrupt_signal, &resident);
	if (err)
		return complain_of_cache(run, err, resident);
	run->report->environment.resident_pages = resident;
	return STATUS_OK;
}

static int complain_of_hook(const struct run *run, int err)
{
	const char *file = run->plan->options->file;

	if (err == -EOPNOTSUPP)
		return complain(STATUS_FAILED, "the module does not watch files of the kind of %s: "
				"use one on a disk's file system", file);
	if (err == -ENOMEM)
		return complain(STATUS_FAILED, "no memory for the module's rings: "
				"use a smaller --ring-size");
	return complain(STATUS_FAILED, "the module cannot watch %s: %s", file, strerror(-err));
}

static int hook(struct run *run)
{
	const struct options *options = run->plan->options;
	int err = 0;

	if (options->ring_size)
		err = session_command(&run->session, "ring_size %" PRIu64, options->ring_size);
	if (!err && !options->fault_around)
		err = session_command(&run->session, "fault_around off");
	if (err)
		return complain(STATUS_FAILED, "the module refuses an option: %s: "
				"is it as old as this pfdrive?", strerror(-err));
	err = mapping_map(run->plan->mapping);
	if (err)
		return complain(STATUS_FAILED, "cannot map %s, %" PRIu64 " bytes: %s",
				options->file, run->plan->mapping->bytes, strerror(-err));
	err = session_command(&run->session, "file %d", run->plan->mapping->fd);
	return err ? complain_of_hook(run, err) : STATUS_OK;
}

static int start_collector(struct run *run)
{
	const struct run_plan *plan = run->plan;
	const struct collector_options options = {
		.sink = on_item,
		.sink_context = run->report->summary,
		.events = run->events,
		.cpus = plan->cpus,
		.tick_ms = progress_tick_ms(),
		.tick = progress_tick,
		.tick_context = &run->progress,
	};
	int err;

	run->progress = (struct progress){
		.watch = &run->watch,
		.accesses = plan->pattern->accesses,
		.number = plan->number,
		.of = plan->options->repeats,
	};
	err = collector_open(&run->collector, &options);
	if (!err)
		err = collector_start(run->collector);
	return err ? complain(STATUS_FAILED, "cannot read the module's rings: %s", strerror(-err)) :
		     STATUS_OK;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/*
 * Everything that the measured lines touch is touched before, so that the
 * thread's faults in between are the file's alone. As a target of eBPF the
 * thread makes two system calls, the getrusage() on either side, and with some
 * clocks the two of the clock.
 */
static int access_file(struct run *run)
{
	const struct run_plan *plan = run->plan;
	const pid_t tid = gettid();
	uint64_t start_ns;
	int err = 0;

	pattern_warm_up(plan->pattern);
	getrusage(RUSAGE_THREAD, &run->after);
	start_ns = now_ns();
	interrupt_bus_armed = 1;
	if (run->events)
		err = events_watch(run->events, tid, PFSTAT_TARGET_THREAD);

	getrusage(RUSAGE_THREAD, &run->before);
	start_ns = now_ns();
	pattern_run(plan->pattern, plan->mapping->data, &run->watch);
	run->report->elapsed_ns = now_ns() - start_ns;
	getrusage(RUSAGE_THREAD, &run->after);

	if (run->events && !err)
		err = events_ignore(run->events, tid);
	interrupt_bus_armed = 0;
	return err;
}

static int drive(struct run *run)
{
	const char *file = run->plan->options->file;
	int err;

	if (sigsetjmp(interrupt_bus, 1)) {
		interrupt_bus_armed = 0;
		return complain(STATUS_FAILED, "%s cannot be read after %" PRIu64 " accesses: "
				"the disk fails, or somebody cut the file", file, run->watch.done);
	}
	err = access_file(run);
	if (interrupt_signal)
		return interrupted();
	return err ? complain(STATUS_FAILED, "cannot name this thread to eBPF: %s",
			      strerror(-err)) : STATUS_OK;
}

static struct timeval elapsed(struct timeval from, struct timeval to)
{
	struct timeval difference;

	timersub(&to, &from, &difference);
	return difference;
}

static void take_rusage(struct run *run)
{
	const struct rusage *before = &run->before, *after = &run->after;
	struct rusage *rusage = &run->report->rusage;

	*rusage = (struct rusage){
		.ru_utime = elapsed(before->ru_utime, after->ru_utime),
		.ru_stime = elapsed(before->ru_stime, after->ru_stime),
		.ru_maxrss = after->ru_maxrss,
	};
	rusage->ru_minflt = after->ru_minflt - before->ru_minflt;
	rusage->ru_majflt = after->ru_majflt - before->ru_majflt;
	rusage->ru_inblock = after->ru_inblock - before->ru_inblock;
	rusage->ru_oublock = after->ru_oublock - before->ru_oublock;
	rusage->ru_nvcsw = after->ru_nvcsw - before->ru_nvcsw;
	rusage->ru_nivcsw = after->ru_nivcsw - before->ru_nivcsw;
}

static int take_events(struct run *run, struct result *result)
{
	struct facts facts = { 0 };
	int err;

	if (!run->events)
		return 0;
	err = events_facts(run->events, &facts);
	result->syscalls = facts.syscalls;
	if (err)
		return err;
	run->report->syscalls = facts.syscalls;
	run->report->nr_syscalls = facts.nr_syscalls;
	run->report->off_cpu_count = facts.counts[PFSTAT_COUNT_OFF_CPU];
	run->report->events_lost = facts.counts[PFSTAT_COUNT_EVENTS_LOST] +
				   facts.counts[PFSTAT_COUNT_SYSCALL_LOST];
	return events_received(run->events) == facts.counts[PFSTAT_COUNT_EVENTS] ? 0 : -EPROTO;
}

/* Everything ends, in this order: what is said, what is read, what is counted. */
static int gather(struct run *run, struct result *result)
{
	int err;

	err = session_command(&run->session, "stop");
	if (err)
		return complain(STATUS_FAILED, "the module does not stop: %s", strerror(-err));
	err = collector_stop(run->collector);
	progress_end(&run->progress);
	if (err)
		return complain(STATUS_FAILED, "cannot read what was recorded: %s", strerror(-err));
	err = session_counts(&run->report->calls, &run->report->lost);
	if (err)
		return complain(STATUS_FAILED, "cannot read the module's counts: %s",
				strerror(-err));
	err = take_events(run, result);
	if (err)
		return complain(STATUS_FAILED, "cannot read what eBPF counted: %s", strerror(-err));
	take_rusage(run);
	return STATUS_OK;
}

/* Only what is really known explains a difference; else why stays empty. */
static void explain(struct difference *difference, const struct report *report,
		    const struct summary_figures *figures)
{
	const int64_t amount = difference->amount;

	if (amount > 0 && report->lost && (uint64_t)amount <= report->lost)
		snprintf(difference->why, sizeof(difference->why),
			 "%" PRIu64 " records were lost, enough to hide these faults",
			 report->lost);
	else if (amount > 0 && (uint64_t)amount <= figures->unfinished)
		snprintf(difference->why, sizeof(difference->why),
			 "%" PRIu64 " faults needed no further call: the page was mapped meanwhile",
			 figures->unfinished);
}

static void compare_counts(struct result *result)
{
	struct report *report = &result->report;
	struct difference *minor = &result->differences[0], *major = &result->differences[1];
	struct summary_figures figures;

	summary_figures(report->summary, &figures);
	*minor = (struct difference){
		.what = "minflt - (faults - major)",
		.amount = report->rusage.ru_minflt - (int64_t)(figures.faults - figures.major),
	};
	*major = (struct difference){
		.what = "majflt - major",
		.amount = report->rusage.ru_majflt - (int64_t)figures.major,
	};
	explain(minor, report, &figures);
	explain(major, report, &figures);
	report->differences = result->differences;
	report->nr_differences = RUN_DIFFERENCES;
}

static void fill_environment(const struct run *run)
{
	struct environment *environment = &run->report->environment;
	const struct run_plan *plan = run->plan;

	environment_read(environment, plan->options->file, plan->mapping);
	strcpy(environment->cache, plan->options->warm ? "warm" : "cold");
	/* options_parse() has refused a longer one. */
	strcpy(environment->pattern, plan->options->pattern_text);
	environment->accesses = plan->pattern->accesses;
	environment->seed = plan->pattern->seed;
	environment->pinned_cpu = plan->options->cpu;
	environment->fault_around = plan->options->fault_around;
	run->report->repeat = plan->number;
	run->report->repeats = plan->options->repeats;
}

static int count_pages(struct run *run)
{
	int err = pattern_pages(run->plan->pattern, &interrupt_signal,
				&run->report->pages_touched);

	if (err == -EINTR)
		return interrupted();
	return err ? complain(STATUS_FAILED, "cannot count the pages visited: %s", strerror(-err)) :
		     STATUS_OK;
}

static int run_steps(struct run *run, struct result *result)
{
	int status;

	fill_environment(run);
	status = open_instruments(run);
	if (!status)
		status = prepare_cache(run);
	if (!status)
		status = hook(run);
	if (!status)
		status = start_collector(run);
	if (!status)
		status = drive(run);
	if (!status)
		status = gather(run, result);
	return status;
}

int run_once(const struct run_plan *plan, struct result *result)
{
	struct run run = {
		.plan = plan,
		.report = &result->report,
		.session = SESSION_NONE,
		.watch = { .stop = &interrupt_signal },
	};
	int status;

	*result = (struct result){ 0 };
	status = run_steps(&run, result);
	/* The pins before the session: whoever gets that next makes its own. */
	collector_close(run.collector);
	progress_end(&run.progress);
	events_close(run.events);
	session_close(&run.session);
	mapping_unmap(plan->mapping);
	if (!status)
		status = count_pages(&run);
	if (!status)
		compare_counts(result);
	return status;
}

void result_free(struct result *result)
{
	summary_free(result->report.summary);
	free(result->syscalls);
}
