// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "analyze/analysis.h"
#include "keep/kept_recording.h"
#include "run/recording_output.h"
#include "symbols/code_names.h"
#include "util/message.h"
#include "util/time_ns.h"

#define CODE_GROUPS (1U << GROUP_BY_CODE | 1U << GROUP_BY_STACK)

struct kept_sink {
	struct recording_output output;
	struct analysis *analysis; /* finds the code that is to be named */
	char path[PATH_MAX];
};

static int kept_name(const char *pattern, char path[PATH_MAX])
{
	const time_t now = time(NULL);
	struct tm local;

	tzset();
	if (localtime_r(&now, &local) && strftime(path, PATH_MAX, pattern, &local))
		return STATUS_OK;
	return message(STATUS_FAILED, "--output: '%s' gives no name of a file", pattern);
}

static int kept_add(void *context, const struct item *item)
{
	struct kept_sink *sink = context;

	return recording_output_item(&sink->output, item) ?: analysis_add(sink->analysis, item);
}

/* The counts of the whole run do not belong to the part. */
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
	if (err)
		snprintf(cut, sizeof(cut), "cannot read the kept part: %s", strerror(-err));
	else if (!analysis_finish(sink->analysis) &&
		 code_names_find(sink->analysis, NULL, &symbols, &counters.names_left_out))
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

int kept_recording_write(const struct kept_recording *kept)
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
