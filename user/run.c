// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "collect/instruments.h"
#include "complain.h"
#include "engine/cache.h"
#include "engine/environment.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"

struct run {
	const struct run_plan *plan;
	struct report *report;
	struct result *result;
	struct instruments *instruments;
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
	struct run *run = context;
	int err = analysis_add(run->result->analysis, item);

	return err;
}

/* Whatever can refuse does so before the page cache is touched. */
static int open_instruments(struct run *run)
{
	const struct options *options = run->plan->options;
	const struct instruments_options instruments_options = {
		.bpf = options->bpf,
		.bpf_missing = "--no-bpf was given",
		.events = { .pages = true },
		.ring_size = options->ring_size,
		.fault_around = options->fault_around,
		.only_fd = -1,
		.sink = on_item,
		.sink_context = run,
		.cpus = run->plan->cpus,
		.tick_ms = progress_tick_ms(),
		.tick = progress_tick,
		.tick_context = &run->progress,
	};
	char why[512];
	int err;

	run->result->analysis = analysis_new(options->bpf);
	if (!run->result->analysis)
		return complain(STATUS_FAILED, "out of memory");
	err = instruments_open(&run->instruments, &instruments_options, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
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

static int hook(struct run *run)
{
	const struct options *options = run->plan->options;
	struct mapping *mapping = run->plan->mapping;
	char why[512];
	int err;

	err = mapping_map(mapping);
	if (err)
		return complain(STATUS_FAILED, "cannot map %s, %" PRIu64 " bytes: %s",
				options->file, mapping->bytes, strerror(-err));
	if (instruments_hook_file(run->instruments, mapping->fd, options->file, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	run->progress = (struct progress){
		.watch = &run->watch,
		.accesses = run->plan->pattern->accesses,
		.number = run->plan->number,
		.of = options->repeats,
	};
	if (instruments_go(run->instruments, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	return STATUS_OK;
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
	int err;

	pattern_warm_up(plan->pattern);
	measure_prepare(&run->result->measure);
	getrusage(RUSAGE_THREAD, &run->after);
	start_ns = now_ns();
	interrupt_bus_armed = 1;
	err = instruments_begin_thread(run->instruments, tid);

	getrusage(RUSAGE_THREAD, &run->before);
	start_ns = now_ns();
	if (plan->policy && !err)
		err = mapping_advise(plan->mapping, plan->policy);
	measure_begin(&run->result->measure);
	pattern_run(plan->pattern, plan->mapping->data, &run->watch);
	measure_end(&run->result->measure);
	run->report->elapsed_ns = now_ns() - start_ns;
	getrusage(RUSAGE_THREAD, &run->after);

	if (!err)
		err = instruments_end_thread(run->instruments, tid);
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
	return err ? complain(STATUS_FAILED, "cannot begin the run: %s", strerror(-err)) :
		     STATUS_OK;
}

static uint64_t ns_of(struct timeval time)
{
	return time.tv_sec * 1000000000ULL + time.tv_usec * 1000;
}

static void take_rusage(struct run *run)
{
	const struct rusage *before = &run->before, *after = &run->after;
	struct facts *facts = &run->result->facts;

	facts->hooked_only = true;
	facts->utime_ns = ns_of(after->ru_utime) - ns_of(before->ru_utime);
	facts->stime_ns = ns_of(after->ru_stime) - ns_of(before->ru_stime);
	facts->minflt = after->ru_minflt - before->ru_minflt;
	facts->majflt = after->ru_majflt - before->ru_majflt;
	facts->inblock = after->ru_inblock - before->ru_inblock;
	facts->oublock = after->ru_oublock - before->ru_oublock;
	facts->nvcsw = after->ru_nvcsw - before->ru_nvcsw;
	facts->nivcsw = after->ru_nivcsw - before->ru_nivcsw;
	facts->maxrss_bytes = after->ru_maxrss * 1024ULL;
}

/* Everything ends, in this order: what is said, what is read, what is counted. */
static int gather(struct run *run)
{
	struct facts *facts = &run->result->facts;
	char why[512];
	int err;

	err = instruments_stop(run->instruments, facts, why, sizeof(why));
	progress_end(&run->progress);
	if (err)
		return complain(STATUS_FAILED, "%s", why);
	err = analysis_finish(run->result->analysis);
	if (err)
		return complain(STATUS_FAILED, "cannot explain what was recorded: %s",
				strerror(-err));
	take_rusage(run);
	return STATUS_OK;
}

static void fill_environment(const struct run *run)
{
	struct environment *environment = &run->report->environment;
	const struct run_plan *plan = run->plan;

	environment_read(environment, plan->options->file, plan->mapping);
	strcpy(environment->kind, "drive");
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

static int run_steps(struct run *run)
{
	int status;

	fill_environment(run);
	status = open_measure(run);
	if (!status)
		status = open_instruments(run);
	if (!status)
		status = prepare_cache(run);
	if (!status)
		status = hook(run);
	if (!status)
		status = drive(run);
	if (!status)
		status = gather_measure(run);
	if (!status)
		status = gather(run);
	return status;
}

int run_once(const struct run_plan *plan, struct result *result)
{
	struct run run = {
		.plan = plan,
		.report = &result->report,
		.result = result,
		.watch = { .stop = &interrupt_signal },
	};
	int status;

	*result = (struct result){ 0 };
	report_init(&result->report);
	facts_init(&result->facts);
	status = run_steps(&run);
	progress_end(&run.progress);
	instruments_close(run.instruments);
	mapping_unmap(plan->mapping);
	if (!status)
		status = count_pages(&run);
	if (!status && report_fill(&result->report, result->analysis, &result->facts))
		status = complain(STATUS_FAILED, "out of memory");
	return status;
}

void result_free(struct result *result)
{
	report_exit(&result->report);
	measure_close(&result->measure);
	analysis_free(result->analysis);
	facts_exit(&result->facts);
}
