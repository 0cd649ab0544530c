// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events come from the instruments, in time order and in the collector's thread. They go to the
 * client's observer, then to the recording, then to the analysis. If the client wants it, the
 * analysis reads the recording instead, at the end or when the recording fails. The counters, the
 * analysis and the report are stored in the client's struct result. Errors are kept where they
 * happen: the first one is reported, and no later step reads errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/fault_source_module.h"
#include "privilege/privilege.h"
#include "recording/blocks.h"
#include "run/measurement.h"
#include "symbols/symbols.h"
#include "system/processes.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

#define NAMED_GROUPS (1U << GROUP_BY_CODE | 1U << GROUP_BY_STACK)

int measurement_status(const struct measurement *measurement, int err)
{
	if (!err)
		return STATUS_OK;
	/* A step that has printed a message itself leaves none. */
	return measurement->why.text[0] ? message(STATUS_FAILED, "%s", measurement->why.text) :
					  STATUS_FAILED;
}

/* The run goes on without the recording. recording_output_end() reports how much is in the file. */
static void measurement_note_failure(struct measurement *measurement)
{
	struct result *result = measurement->result;

	if (!result->recording_failed)
		recording_output_report(&measurement->recording,
					"; the run goes on, and the report is printed at the end");
	result->recording_failed = true;
}

static int measurement_analyze(void *context, const struct item *item)
{
	struct measurement *measurement = context;

	if (measurement->result->analysis && !measurement->analysis_err)
		measurement->analysis_err = analysis_add(measurement->result->analysis, item);
	return measurement->analysis_err;
}

/* From now on items are analyzed as they come. */
static void measurement_analyze_recorded(struct measurement *measurement)
{
	int err;

	if (!measurement->later)
		return;
	measurement->later = false;
	err = recording_output_replay(&measurement->recording, measurement_analyze, measurement);
	measurement->analysis_err = measurement->analysis_err ?: err;
}

/* The recording cannot start. The file is useful to no reader, and is removed. */
static int measurement_go_without(struct measurement *measurement)
{
	recording_output_report(&measurement->recording,
				"; there is no recording, the report is printed instead");
	measurement->result->recording_failed = true;
	return STATUS_OK;
}

static int measurement_add(void *context, const struct item *item)
{
	struct measurement *measurement = context;
	const struct measurement_options *options = &measurement->options;
	int err = options->observer ? options->observer(options->observer_context, item) : 0;

	if (err)
		return err < 0 ? err : 0;
	mounts_see_item(&measurement->mounts, item);
	if (options->tap) {
		err = options->tap(options->tap_context, item);
		if (err)
			return err;
	}
	if (recording_output_item(&measurement->recording, item)) {
		measurement_note_failure(measurement);
		measurement_analyze_recorded(measurement);
	}
	if (!measurement->later)
		measurement_analyze(measurement, item);
	/* A recording can be analysed later. */
	return measurement->recording.writer ? 0 : measurement->analysis_err;
}

static int measurement_open_analysis(struct measurement *measurement)
{
	const struct measurement_options *options = &measurement->options;
	struct result *result = measurement->result;

	if (options->without_analysis)
		return 0;
	result->analysis = analysis_new(result->report.bpf.known, page_size(), options->groups);
	if (!result->analysis ||
	    (options->listener &&
	     analysis_listen(result->analysis, options->listener, options->listener_context)))
		return why_fail(&measurement->why, -ENOMEM, "out of memory");
	analysis_expect_spans(result->analysis,
			      instruments_hooks(measurement->instruments) & 1U << HOOK_FAULT);
	return 0;
}

/* Which source works, and whether eBPF does, is known now. */
static void measurement_describe(struct measurement *measurement)
{
	const struct instruments *instruments = measurement->instruments;
	struct report *report = &measurement->result->report;

	measurement->options.instruments.source = instruments_source(instruments);
	measurement->options.instruments.bpf &= !instruments_bpf_missing(instruments)[0];
	strcpy(report->environment.source, instruments_source(instruments)->word);
	if (report->environment.exact && instruments_source(instruments) == &fault_source_module)
		report->environment.fault_around = false;
	report->bpf.known = instruments_have_events(instruments);
	strcpy(report->bpf.missing, instruments_bpf_missing(instruments));
	if (instruments_source(instruments)->stream)
		report->bpf.hooks = instruments_hooks(instruments);
}

static int measurement_open_instruments(struct measurement *measurement)
{
	struct instruments_options *options = &measurement->options.instruments;
	int err;

	if (measurement->options.hooks_nothing) {
		measurement->nothing_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (measurement->nothing_fd < 0)
			return why_errno(&measurement->why, -errno, "cannot open /dev/null");
		options->only_fd = measurement->nothing_fd;
	}
	options->sink = measurement_add;
	options->sink_context = measurement;
	err = instruments_open(&measurement->instruments, options, &measurement->why);
	if (!err)
		measurement_describe(measurement);
	return err;
}

int measurement_open(struct measurement *measurement, const struct measurement_options *options,
		     struct result *result)
{
	*measurement = MEASUREMENT_NONE;
	measurement->options = *options;
	measurement->result = result;
	return measurement_open_instruments(measurement) ?: measurement_open_analysis(measurement);
}

int measurement_record(struct measurement *measurement, const char *path)
{
	struct recording_output *recording = &measurement->recording;
	int err = recording_output_begin(recording, path, &measurement->result->report);

	measurement->later = measurement->options.analyzes_later && recording->again;
	if (!err)
		return STATUS_OK;
	if (!block_sink_is_full(err) && err != -EIO)
		return recording_output_report(recording, "");
	return measurement_go_without(measurement);
}

int measurement_record_maps(struct measurement *measurement, const struct mapping *mapping,
			    const char *path)
{
	int err = recording_output_self(measurement_add, measurement) ?:
			  recording_output_map(measurement_add, measurement, mapping, path);

	return err ? why_errno(&measurement->why, err, "cannot record") : 0;
}

struct thread_naming {
	struct measurement *measurement;
	pid_t pid;
};

static int measurement_add_name(void *context, pid_t tid, const char name[THREAD_NAME_SIZE])
{
	struct thread_naming *naming = context;
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task),
			.pid = naming->pid, .tid = tid,
		},
	};
	const struct item item = { .type = ITEM_EVENT, .event = &task.event };

	memcpy(task.comm, name, sizeof(task.comm));
	return measurement_add(naming->measurement, &item);
}

int measurement_name_threads(struct measurement *measurement, pid_t pid)
{
	struct thread_naming naming = { measurement, pid };
	int err = thread_names_visit(pid, measurement_add_name, &naming);

	return err ? why_errno(&measurement->why, err, "cannot record") : 0;
}

int measurement_hook_file(struct measurement *measurement, int fd, const char *path)
{
	return instruments_hook_file(measurement->instruments, fd, path, &measurement->why);
}

int measurement_hook_nothing(struct measurement *measurement)
{
	return instruments_hook_nothing(measurement->instruments, &measurement->why);
}

int measurement_follow(struct measurement *measurement, pid_t pid, bool existing)
{
	return instruments_follow(measurement->instruments, pid, existing, &measurement->why);
}

int measurement_start(struct measurement *measurement)
{
	int err;

	measurement->why.text[0] = '\0';
	instruments_see_code(measurement->instruments);
	/*
	 * Each thread has separate capabilities, so reduce them before the collector's thread is
	 * made.
	 */
	if (!measurement->options.keeps_privileges && privilege_reduce())
		return -EPERM;
	measurement->result->report.bpf.user_only = instruments_user_only(measurement->instruments);
	err = instruments_go(measurement->instruments, &measurement->why);
	measurement->running = !err;
	return err;
}

void measurement_keep_recording(struct measurement *measurement)
{
	recording_output_go(&measurement->recording);
}

int measurement_stop(struct measurement *measurement)
{
	struct result *result = measurement->result;
	int err;

	if (!measurement->running)
		return 0;
	measurement->running = false;
	err = instruments_stop(measurement->instruments, &result->counters, &measurement->why);
	if (!err && measurement->options.exact)
		err = instruments_check_events(&result->counters, &measurement->why);
	if (err)
		strcpy(result->damage, measurement->why.text);
	mounts_hand_over(&measurement->mounts, &result->counters);
	measurement_analyze_recorded(measurement);
	if (result->analysis && !measurement->analysis_err)
		measurement->analysis_err = analysis_finish(result->analysis);
	return err;
}

/* NULL, and *err: they could not be looked up. */
static json_t *measurement_code_names(struct measurement *measurement, int *err)
{
	const bool lines = measurement->recording.writer ||
			   measurement->options.groups & 1U << GROUP_BY_LINE;
	struct result *result = measurement->result;
	json_t *symbols = NULL;
	uint64_t left_out;

	*err = measurement->analysis_err;
	if (*err || !(measurement->options.groups & NAMED_GROUPS))
		return NULL;
	*err = code_names_find(result->analysis, instruments_code_files(measurement->instruments),
			       lines, &symbols, &left_out);
	if (*err) {
		json_decref(symbols);
		return NULL;
	}
	if (measurement->recording.writer)
		result->counters.names_left_out = left_out;
	return symbols;
}

static int measurement_end_recording(struct measurement *measurement)
{
	const bool recorded = measurement->recording.writer;
	struct result *result = measurement->result;
	json_t *symbols;
	int err, status;

	symbols = measurement_code_names(measurement, &err);
	status = recording_output_end(&measurement->recording, symbols, &result->counters,
				      result->damage[0] ? result->damage : NULL);
	json_decref(symbols);
	if (status && result->damage[0])
		return status;
	result->recording_failed |= status;
	if (measurement->analysis_err && (!recorded || result->recording_failed))
		return message(STATUS_FAILED, "cannot analyze the records: %s",
			       strerror(-measurement->analysis_err));
	if (result->damage[0])
		return message(STATUS_FAILED, "%s", result->damage);
	return err && !result->recording_failed ?
		       message(STATUS_FAILED,
			       "cannot look up symbols: %s; the recording is otherwise complete, "
			       "with addresses instead of names",
			       strerror(-err)) :
		       STATUS_OK;
}

int measurement_finish(struct measurement *measurement)
{
	struct result *result = measurement->result;
	int status = measurement_end_recording(measurement), err;

	if (result->damage[0])
		result->report.losses.damage = result->damage;
	if (!result->analysis || measurement->analysis_err)
		return status;
	err = report_fill(&result->report, result->analysis, &result->counters);
	result->filled = !err;
	if (err && !status)
		status = message(STATUS_FAILED, "cannot make the report: %s", strerror(-err));
	return status;
}

/* An error or a signal in the middle of the workload does not discard the recording. */
static void measurement_cut_recording(struct measurement *measurement)
{
	const struct result *result = measurement->result;

	if (!measurement->recording.going || !measurement->recording.writer)
		return;
	measurement->later = false; /* no report is made */
	measurement_stop(measurement);
	recording_output_end(&measurement->recording, NULL, &result->counters,
			     signals_caught    ? "it was interrupted" :
			     result->damage[0] ? result->damage :
						 "the run failed before the end");
}

/* First close the event producers, then their receivers. */
void measurement_close(struct measurement *measurement)
{
	measurement_cut_recording(measurement);
	instruments_close(measurement->instruments);
	recording_output_close(&measurement->recording);
	mounts_exit(&measurement->mounts);
	if (measurement->nothing_fd >= 0)
		close(measurement->nothing_fd);
	*measurement = MEASUREMENT_NONE;
}
