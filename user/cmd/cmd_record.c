// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "analyze/analysis.h"
#include "cmd/cmd.h"
#include "cmd/report_options.h"
#include "cmd/watch_options.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "report/report.h"
#include "run/recording_output.h"
#include "symbols/code_names.h"
#include "system/machine_state.h"
#include "util/message.h"
#include "util/shell_quote.h"
#include "util/signals.h"

struct record_options {
	struct watch_options watch;
	struct report_options report;
	const char *output;	/* NULL: no recording is written */
};

struct record {
	struct record_options options;
	struct watch *watch;
	struct analysis *analysis;
	int analysis_err;	/* the first: it explains nothing any more */
	struct run_counters counters;
	char damage[512];	/* why what was recorded is not whole; "": it is */
	struct report report;
	struct recording_output recording;
};

static error_t record_parse_option(int key, char *text, struct argp_state *state)
{
	struct record_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->watch;
		state->child_inputs[1] = &options->report;
		return 0;
	case 'o':
		options->output = text;
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_recording(state, "--output", options->output);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "write a recording there; nothing is printed then", 3 },
	{ 0 },
};

static const struct argp_child record_children[] = {
	{ &watch_argp, 0, NULL, 0 }, { &report_options_argp, 0, NULL, 0 }, { 0 },
};

const struct argp record_argp = {
	.options = argp_options, .parser = record_parse_option, .children = record_children,
	.args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n--cgroup PATH\n--file PATH",
	.doc = "Watches any program, and explains its page faults: prints a report, or "
	       "writes a recording for `pfdrive report'.\vCtrl-C ends the recording of "
	       "processes that were there before; they run on. A COMMAND gets Ctrl-C, too: "
	       "the recording ends with it, or with a second Ctrl-C. Needs the pfstat module, "
	       "and root.",
};

static void record_parse(struct record_options *options, int argc, char **argv)
{
	watch_options_init(&options->watch);
	report_options_init(&options->report);
	argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER, NULL, options);
	if (options->report.grouped && options->report.by == GROUP_BY_STACK)
		options->watch.instruments.events.stacks = true;
}

static int record_add_item(void *context, const struct item *item)
{
	struct record *record = context;

	/* Items that cannot be written any more need not be watched for. */
	if (recording_output_item(&record->recording, item))
		watch_end(record->watch);
	if (!record->analysis_err)
		record->analysis_err = analysis_add(record->analysis, item);
	/* A recording can be explained later: it goes on without the analysis. */
	return record->options.output ? 0 : record->analysis_err;
}

/* As a shell takes it; cut where there is no room. */
static void join_command(char *text, size_t size, char *const *argv)
{
	FILE *out = fmemopen(text, size, "w");
	const char *separator = "";

	text[0] = '\0';
	for (; out && *argv; argv++, separator = " ") {
		fputs(separator, out);
		shell_word(out, *argv);
	}
	if (out)
		fclose(out);
	text[size - 1] = '\0';
}

static void record_copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ?: "");
}

static void record_describe(struct record *record)
{
	const struct watch_options *options = &record->options.watch;
	struct environment *environment = &record->report.environment;
	char resolved[PATH_MAX];

	report_init(&record->report);
	environment_read_machine(environment);
	strcpy(environment->kind, "record");
	environment->started_s = time(NULL);
	if (options->command)
		join_command(environment->command, sizeof(environment->command), options->command);
	environment->pid = options->pid;
	record_copy_text(environment->cgroup, sizeof(environment->cgroup), options->cgroup);
	if (options->file)
		record_copy_text(environment->only_file, sizeof(environment->only_file),
				 realpath(options->file, resolved) ?: options->file);
	environment->fault_around = options->instruments.fault_around;
	environment->ring_bytes = options->instruments.ring_size ?: PFSTAT_RING_SIZE_DEFAULT;
	record->report.have_bpf = options->instruments.bpf;
	if (!options->instruments.bpf)
		record_copy_text(record->report.bpf_missing, sizeof(record->report.bpf_missing),
				 options->instruments.bpf_missing);
}

/* What is printed, and in a recording the names of all code. */
static unsigned int groups_of(const struct record_options *options)
{
	unsigned int groups = 0;

	if (options->report.grouped)
		groups |= 1U << options->report.by;
	if (options->output)
		groups |= 1U << GROUP_BY_CODE;
	if (options->output && options->watch.instruments.events.stacks)
		groups |= 1U << GROUP_BY_STACK;
	return groups;
}

static int record_open_watch(struct record *record)
{
	struct watch_options *options = &record->options.watch;

	record->analysis = analysis_new(options->instruments.bpf,
					groups_of(&record->options));
	if (!record->analysis)
		return complain(STATUS_FAILED, "out of memory");
	options->instruments.sink = record_add_item;
	options->instruments.sink_context = record;
	return watch_open(&record->watch, options);
}

/* NULL: there are none, or, with *err, they could not be looked up. */
static json_t *find_names(struct record *record, int *err)
{
	json_t *symbols = NULL;
	uint64_t left_out;

	if (!record->analysis_err)
		record->analysis_err = analysis_finish(record->analysis);
	*err = record->analysis_err ?:
	       code_names_find(record->analysis, watch_code_files(record->watch), &symbols,
			       &left_out);
	if (*err) {
		json_decref(symbols);
		return NULL;
	}
	if (record->options.output)
		record->counters.names_left_out = left_out;
	return symbols;
}

/* The recording, if there is one, is written whatever failed before. */
static int record_end(struct record *record)
{
	const char *damage = record->damage[0] ? record->damage : NULL;
	json_t *symbols;
	int err, status;

	symbols = find_names(record, &err);
	status = recording_output_end(&record->recording, symbols, &record->counters, damage);
	json_decref(symbols);
	if (!status && record->analysis_err && !record->options.output)
		return complain(STATUS_FAILED, "cannot explain what was recorded: %s",
				strerror(-record->analysis_err));
	if (!status && damage)
		return complain(STATUS_FAILED, "%s", damage);
	if (!status && err)
		return complain(STATUS_FAILED, "cannot look up the names of code: %s; all else is "
				"recorded, addresses stand for the names", strerror(-err));
	return status;
}

static void record_print_counts(const struct record *record)
{
	fprintf(stderr, "pfdrive: %" PRIu64 " calls of file operations recorded, %" PRIu64
		" lost, in %s\n", record->counters.calls, record->counters.lost,
		record->options.output);
}

static int record_print(struct record *record)
{
	const struct report_options *options = &record->options.report;
	const bool recorded = record->options.output;
	int err = record->analysis_err;

	if (recorded && !options->json)
		return STATUS_OK;
	report_options_apply(options, &record->report);
	if (record->damage[0])
		record->report.damage = record->damage;
	if (!err)
		err = report_fill(&record->report, record->analysis, &record->counters);
	if (err)
		return complain(STATUS_FAILED, "cannot print the report: %s", strerror(-err));
	return recorded ? report_options_write(options, &record->report) :
			  report_options_print(options, &record->report);
}

/* Stores, explains and prints the measurement. */
static int record_conclude(struct record *record)
{
	int status, printed = STATUS_OK;

	if (!watch_stop(record->watch, &record->counters, record->damage, sizeof(record->damage)))
		record->damage[0] = '\0';
	status = record_end(record);
	if (!status && record->options.output)
		record_print_counts(record);
	if (!record->analysis_err || (record->options.output && record->options.report.json))
		printed = record_print(record);
	return status ? status : printed;
}

static int record_run(struct record *record)
{
	int status, ended;

	status = record_open_watch(record);
	if (!status)
		status = watch_go(record->watch);
	if (status)
		return status;
	recording_output_go(&record->recording);
	watch_wait(record->watch);
	status = record_conclude(record);
	ended = watch_status(record->watch);
	return status ? status : ended;
}

int cmd_record(int argc, char **argv)
{
	struct record record = { 0 };
	int status;

	record_parse(&record.options, argc, argv);
	interrupt_init();
	run_counters_init(&record.counters);
	record_describe(&record);
	/* Before anything is watched: a file that cannot be written is no loss then. */
	status = recording_output_begin(&record.recording, record.options.output, &record.report);
	if (!status)
		status = record_run(&record);
	watch_close(record.watch);
	recording_output_close(&record.recording);
	report_exit(&record.report);
	analysis_free(record.analysis);
	run_counters_exit(&record.counters);
	return status;
}
