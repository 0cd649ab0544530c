// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder. The collector's thread keeps the items. The main thread waits for the
 * program's end or for SIGUSR1. The collector's thread also sends it SIGUSR1 after a long fault,
 * and if the last faults exceed a limit. Then the main thread writes the kept items as a separate
 * recording, while the watching goes on. Limits need an analysis, which runs in the collector's
 * thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "analyze/analysis.h"
#include "keep/record_keep.h"
#include "limits/limits.h"
#include "report/report.h"
#include "run/recording_output.h"
#include "symbols/symbols.h"
#include "system/mounts.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"

struct kept_recording {
	struct recent_items *recent;
	const char *pattern;	     /* file name, with strftime(3) conversions */
	const struct report *report; /* for the head */
	uint32_t hooks;		     /* eBPF hooks, as in run_counters.hooks */
	uint64_t start_ns, end_ns;   /* of the watching; end 0 if it goes on */
};

#define CODE_GROUPS (1U << GROUP_BY_CODE | 1U << GROUP_BY_STACK)

struct kept_sink {
	struct recording_output output;
	struct analysis *analysis; /* finds the code to be named */
	struct mounts mounts;	   /* of processes that still exist */
	char path[PATH_MAX];
};

static int kept_name(const char *pattern, char path[PATH_MAX])
{
	const time_t now = time(NULL);
	struct tm local;

	tzset();
	if (localtime_r(&now, &local) && strftime(path, PATH_MAX, pattern, &local))
		return STATUS_OK;
	return message(STATUS_FAILED, "--output: '%s' does not name a file", pattern);
}

static int kept_add(void *context, const struct item *item)
{
	struct kept_sink *sink = context;

	mounts_see_item(&sink->mounts, item);
	return recording_output_item(&sink->output, item) ?: analysis_add(sink->analysis, item);
}

/* Counts for the whole run do not belong to the part. */
static void kept_count(const struct kept_recording *kept, const struct recent_part *part,
		       struct run_counters *counters)
{
	run_counters_init(counters);
	counters->start_ns = part->from_ns ?: kept->start_ns;
	counters->end_ns = kept->end_ns ?: clock_monotonic_ns();
	counters->edges = true;
	counters->lost = part->lost_records;
	if (part->lost_records != COUNT_NA)
		counters->calls = part->records + part->lost_records;
	counters->have_bpf = kept->report->bpf.known;
	counters->hooks = kept->hooks;
	counters->perf_user_only = kept->report->bpf.user_only;
	strcpy(counters->perf_waits_missing, kept->report->bpf.waits_missing);
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] = part->lost_events;
	strcpy(counters->bpf_missing, kept->report->bpf.missing);
}

static int kept_finish(struct kept_sink *sink, const struct kept_recording *kept,
		       const struct recent_part *part, int err)
{
	struct run_counters counters;
	json_t *symbols = NULL;
	char cut[128] = "";
	int status;

	kept_count(kept, part, &counters);
	mounts_hand_over(&sink->mounts, &counters);
	if (err)
		snprintf(cut, sizeof(cut), "cannot read the kept part: %s", strerror(-err));
	else if (!analysis_finish(sink->analysis) &&
		 code_names_find(sink->analysis, NULL, true, &symbols, &counters.names_left_out))
		message(STATUS_OK, "cannot look up symbols; %s has addresses instead of names",
			sink->path);
	status = recording_output_end(&sink->output, symbols, &counters, cut[0] ? cut : NULL);
	json_decref(symbols);
	if (!status)
		message(STATUS_OK, "the last %.1f s are in %s: %" PRIu64 " items",
			(double)(counters.end_ns - counters.start_ns) / SECOND, sink->path,
			part->items);
	run_counters_exit(&counters);
	return status;
}

/*
 * Prints the file name and how much the file holds. An older file with this name is kept as
 * PATH.old. Returns an exit status, after a message.
 */
static int kept_recording_write(const struct kept_recording *kept)
{
	struct kept_sink sink = { 0 };
	struct recent_part part = { 0 };
	int err, status;

	status = kept_name(kept->pattern, sink.path);
	if (status)
		return status;
	sink.analysis = analysis_new(kept->report->bpf.known, kept->report->environment.page_bytes,
				     CODE_GROUPS);
	if (!sink.analysis)
		return message(STATUS_FAILED, "out of memory");
	analysis_expect_spans(sink.analysis, kept->report->bpf.known);
	if (recording_output_begin(&sink.output, sink.path, kept->report)) {
		status = recording_output_report(&sink.output, "");
	} else {
		err = recent_feed(kept->recent, kept_add, &sink, &part);
		status = kept_finish(&sink, kept, &part, err);
	}
	recording_output_close(&sink.output);
	analysis_free(sink.analysis);
	return status;
}

/* How often all events are read, so that the kept part is never older. */
#define TICK_MS	   200
#define PATIENCE_S 5

struct keeping {
	const struct keep_options *options;
	struct kept_recording kept;
	struct watch *watch;
	pthread_t main_thread;
	struct analysis *analysis; /* NULL: no limits */
	struct limit_sums sums;	   /* since the start; busy_ns is computed at each tick */
	struct limit_window window;
	uint64_t asked_ns; /* when a write was last requested, 0 if never */
	pthread_mutex_t lock;
	pthread_cond_t ticked;
	uint64_t ticks; /* how often all events up to then were read */
};

static uint64_t time_of_fault(const struct item *item)
{
	if (item->type == ITEM_RECORD)
		return item->record->duration_ns;
	if (item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_FAULT)
		return item_elapsed(((const struct pfstat_fault *)item->event)->start_ns, item->ns);
	return 0;
}

/* The next write waits until the cause of this one has left the kept part. */
static void keep_request(struct keeping *keeping, uint64_t ns)
{
	if (keeping->asked_ns && ns < keeping->asked_ns + keeping->options->keep_ns)
		return;
	keeping->asked_ns = ns;
	pthread_kill(keeping->main_thread, SIGUSR1);
}

/* An explain_sink. */
static int keep_add_fault(void *context, const struct explained *fault)
{
	struct keeping *keeping = context;

	keeping->sums.major += fault->major;
	keeping->sums.fault_ns += fault->end_ns - fault->start_ns;
	return 0;
}

static int keep_add(void *context, const struct item *item)
{
	struct keeping *keeping = context;
	int err = recent_add(keeping->kept.recent, item);

	if (!err && keeping->analysis)
		err = analysis_add(keeping->analysis, item);
	if (!err && time_of_fault(item) > keeping->options->longer_ns)
		keep_request(keeping, item->ns);
	return err;
}

static void keep_check_limits(struct keeping *keeping)
{
	const uint64_t now = clock_monotonic_ns(), keep_ns = keeping->options->keep_ns;
	struct activity_figures activity;
	struct evidence_figures evidence;
	struct limit_sums last;

	analysis_evidence(keeping->analysis, &evidence);
	keeping->sums.busy_ns = evidence.busy_ns;
	if (keeping->kept.report->bpf.known) {
		analysis_activity(keeping->analysis, COUNT_NA, now, &activity);
		keeping->sums.active_ns = activity.active_ns;
		keeping->sums.waiting_ns = activity.waiting_ns;
	}
	last = limit_window_add(&keeping->window, now, &keeping->sums);
	if (limits_exceeded(&keeping->options->limits, &last, keep_ns))
		keep_request(keeping, now);
}

static void keep_lost(void *context, uint64_t *records, uint64_t *events)
{
	const struct keeping *keeping = context;

	*records = 0;
	*events = 0;
	if (keeping->watch)
		watch_lost(keeping->watch, records, events);
}

static void keep_tick(void *context)
{
	struct keeping *keeping = context;

	if (keeping->analysis)
		keep_check_limits(keeping);
	pthread_mutex_lock(&keeping->lock);
	keeping->ticks++;
	pthread_cond_signal(&keeping->ticked);
	pthread_mutex_unlock(&keeping->lock);
}

/*
 * Waits until all events up to now are read. A tick may be in progress and may have read only some
 * of them. A collector that failed ticks no more.
 */
static void keep_await_events(struct keeping *keeping)
{
	struct timespec until;
	uint64_t wanted;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&keeping->lock);
	wanted = keeping->ticks + 2;
	while (!err && keeping->ticks < wanted)
		err = pthread_cond_timedwait(&keeping->ticked, &keeping->lock, &until);
	pthread_mutex_unlock(&keeping->lock);
}

static int keep_write(struct keeping *keeping)
{
	keeping->kept.start_ns = watch_start_ns(keeping->watch);
	keeping->kept.hooks = watch_hooks(keeping->watch);
	return kept_recording_write(&keeping->kept);
}

/* Runs until the watching ends. Returns the first error for a file, or STATUS_OK. */
static int keep_until_end(struct keeping *keeping)
{
	int status = STATUS_OK, written;

	for (;;) {
		watch_wait(keeping->watch);
		if (!signals_user_came())
			return status;
		keep_await_events(keeping);
		written = keep_write(keeping);
		status = status ?: written;
	}
}

static int keep_watch(struct keeping *keeping, const struct watch_options *options,
		      struct result *result)
{
	int status, finished, ended;

	status = watch_open(&keeping->watch, options, result) ?: watch_go(keeping->watch);
	if (status)
		return status;
	status = keep_until_end(keeping);
	watch_stop(keeping->watch);
	finished = watch_finish(keeping->watch);
	keeping->kept.end_ns = result->counters.end_ns;
	status = status ?: finished ?: keep_write(keeping);
	ended = watch_status(keeping->watch);
	return status ?: ended;
}

static int keep_open_limits(struct keeping *keeping, bool have_bpf)
{
	int err;

	if (!limits_any(&keeping->options->limits))
		return 0;
	err = limit_window_open(&keeping->window, keeping->options->keep_ns, TICK_MS * MILLISECOND);
	keeping->analysis = err ? NULL : analysis_new(have_bpf, page_size(), 0);
	if (!keeping->analysis)
		return -ENOMEM;
	analysis_expect_spans(keeping->analysis, have_bpf);
	/* From here on: the faults before the first tick count, too. */
	limit_window_add(&keeping->window, clock_monotonic_ns(), &keeping->sums);
	return analysis_listen(keeping->analysis, keep_add_fault, keeping);
}

static void keep_close(struct keeping *keeping)
{
	watch_close(keeping->watch);
	recent_close(keeping->kept.recent);
	analysis_free(keeping->analysis);
	limit_window_close(&keeping->window);
}

void keep_options_init(struct keep_options *options)
{
	*options = (struct keep_options){ .longer_ns = COUNT_NA };
	limits_init(&options->limits);
}

int record_keep(const struct keep_options *options, const struct watch_options *watch_options,
		const char *pattern, struct result *result)
{
	struct watch_options watched = *watch_options;
	struct keeping keeping = {
		.options = options,
		.kept = { .pattern = pattern, .report = &result->report },
		.main_thread = pthread_self(),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ticked = PTHREAD_COND_INITIALIZER,
	};
	const struct recent_options recent = {
		.keep_ns = options->keep_ns,
		.bytes = options->bytes ?: KEEP_BYTES,
		.lost = keep_lost,
		.lost_context = &keeping,
	};
	int err = recent_open(&keeping.kept.recent, &recent), status;

	if (!err)
		err = keep_open_limits(&keeping, watch_options->instruments.bpf);
	if (err) {
		keep_close(&keeping);
		return message(STATUS_FAILED, "cannot keep a recording in memory: %s",
			       strerror(-err));
	}
	watched.tap = keep_add;
	watched.tap_context = &keeping;
	watched.instruments.tick_ms = TICK_MS;
	watched.instruments.tick_drains = true;
	watched.instruments.tick = keep_tick;
	watched.instruments.tick_context = &keeping;
	signals_take_user();
	status = keep_watch(&keeping, &watched, result);
	keep_close(&keeping);
	return status;
}
