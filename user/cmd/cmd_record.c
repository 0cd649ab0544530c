// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive record: watches a program, and prints a report on the events, or writes the events to a
 * recording, which is analyzed once complete. A recording is completed even if the analysis fails.
 * To keep only the last part, record_keep.c is used instead.
 */
#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "cmd/cmd.h"
#include "cmd/report_options.h"
#include "keep/record_keep.h"
#include "limits/limits.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "report/report.h"
#include "report/view.h"
#include "run/watch_options.h"
#include "system/machine.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/text.h"
#include "util/time_ns.h"

struct record_options {
	struct watch_options watch;
	struct report_options report;
	const char *output; /* NULL: no recording is written */
	struct keep_options keep;
};

struct record {
	struct record_options options;
	struct watch *watch;
	struct result result;
};

enum key {
	KEY_KEEP = 3000,
	KEY_KEEP_MEMORY,
	KEY_LONGER_THAN,
	KEY_EXACT,
};

static void record_check_keep(const struct argp_state *state, const struct record_options *options)
{
	const struct keep_options *keep = &options->keep;

	if (keep->keep_ns && !options->output)
		usage(state, "--keep requires --output, the file that the last part is written to");
	if (keep->keep_ns && options->report.json)
		usage(state, "--keep writes no JSON; use pfdrive report on the recording");
	if (!keep->keep_ns && (keep->bytes || keep->longer_ns != COUNT_NA))
		usage(state, "--keep-memory and --longer-than require --keep");
	if (!keep->keep_ns && limits_any(&keep->limits))
		usage(state, "limits require --keep; to check a whole run, use pfdrive check");
}

static error_t record_parse_option(int key, char *text, struct argp_state *state)
{
	struct record_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->watch;
		state->child_inputs[1] = &options->report;
		state->child_inputs[2] = &options->keep.limits;
		return 0;
	case 'o':
		options->output = text;
		return 0;
	case KEY_KEEP:
		options->keep.keep_ns =
			SECOND *
			argument_decimal(state, "keep", text, "a number of seconds", 0.1, 86400);
		return 0;
	case KEY_KEEP_MEMORY:
		options->keep.bytes =
			argument_size(state, "keep-memory", text, KEEP_BYTES_MIN, UINT64_MAX / 2);
		return 0;
	case KEY_LONGER_THAN:
		options->keep.longer_ns = 1e6 * argument_decimal(state, "longer-than", text,
								 "a number of milliseconds", 0,
								 1e9);
		return 0;
	case KEY_EXACT:
		options->watch.instruments.exact = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (options->watch.instruments.exact && !options->watch.command)
			usage(state, "--exact requires a COMMAND; a running process has mapped its "
				     "files already");
		record_check_keep(state, options);
		named_files_recording(state, "--output", options->output);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "write a recording to FILE instead of printing a report", 4 },
	{ "exact", KEY_EXACT, NULL, 0,
	  "a fault for each first touch of a file page by COMMAND, in order (Linux 6.7)", 2 },
	{ NULL, 0, NULL, 0, "Flight recorder:", 5 },
	{ "keep", KEY_KEEP, "SECONDS", 0,
	  "keep only the last part in memory, and write it to FILE at the end and at SIGUSR1", 5 },
	{ "keep-memory", KEY_KEEP_MEMORY, "SIZE", 0, "memory for the kept part (default 64M)", 5 },
	{ "longer-than", KEY_LONGER_THAN, "MS", 0,
	  "also write it after a fault that took longer, in milliseconds", 5 },
	{ 0 },
};

static const struct argp_child record_children[] = {
	{ &watch_argp, 0, NULL, 0 },
	{ &report_options_argp, 0, NULL, 0 },
	{ &limit_argp, 0, "With --keep, also write it if the last SECONDS had more than this:", 6 },
	{ 0 },
};

static const struct argp record_argp = {
	.options = argp_options,
	.parser = record_parse_option,
	.children = record_children,
	.args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n--cgroup PATH\n--file PATH",
	.doc = "Watches any program and explains its page faults: prints a report, or writes a "
	       "recording for 'pfdrive report'.\vCtrl-C stops the recording; processes that "
	       "pfdrive did not start continue. A COMMAND also receives Ctrl-C: the recording "
	       "stops when it exits, or at a second Ctrl-C. An ordinary user can record "
	       "their own processes; the pfstat module and eBPF, which show more about a "
	       "fault, require root.",
};

static void record_parse(struct record_options *options, int argc, char **argv)
{
	watch_options_init(&options->watch);
	report_options_init(&options->report);
	keep_options_init(&options->keep);
	argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER, NULL, options);
	if (options->report.grouped && options->report.by == GROUP_BY_STACK)
		options->watch.instruments.events.stacks = true;
}

/* Quotes the command for a shell, and cuts it to the size of text. */
static void join_command(char *text, size_t size, char *const *argv)
{
	FILE *out = fmemopen(text, size, "w");
	const char *separator = "";

	text[0] = '\0';
	for (; out && *argv; argv++, separator = " ") {
		fputs(separator, out);
		shell_quote(out, *argv);
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
	struct environment *environment = &record->result.report.environment;
	char resolved[PATH_MAX];

	machine_state_read(environment);
	strcpy(environment->kind, "record");
	environment->started_s = time(NULL);
	if (options->command)
		join_command(environment->command, sizeof(environment->command), options->command);
	environment->pid = options->pid;
	record_copy_text(environment->cgroup, sizeof(environment->cgroup), options->cgroup);
	if (options->file)
		record_copy_text(environment->only_file, sizeof(environment->only_file),
				 realpath(options->file, resolved) ?: options->file);
	environment->exact = options->instruments.exact;
	environment->fault_around = options->instruments.fault_around;
	environment->ring_bytes = options->instruments.ring_size ?: PFSTAT_RING_SIZE_DEFAULT;
}

/* Returns the tables to print, the verdict's tables, and for a recording the stacks table. */
static unsigned int groups_of(const struct record_options *options)
{
	unsigned int groups = REPORT_PLACES;

	if (options->report.grouped)
		groups |= 1U << options->report.by;
	if (options->output && options->watch.instruments.events.stacks)
		groups |= 1U << GROUP_BY_STACK;
	return groups;
}

static void record_print_counts(const struct record *record)
{
	const struct run_counters *counters = &record->result.counters;

	if (view_source_is_perf(&record->result.report)) {
		fprintf(stderr, "pfdrive: %" PRIu64 " faults recorded, %" PRIu64 " samples lost",
			record->result.report.faults.all.count,
			counters->counts[PFSTAT_COUNT_EVENTS_LOST]);
		if (counters->perf_ended)
			fprintf(stderr,
				", perf's events ended by the kernel at %" PRIu64 " execution%s",
				counters->perf_ended, counters->perf_ended == 1 ? "" : "s");
		fprintf(stderr, ", in %s\n", record->options.output);
		return;
	}
	fprintf(stderr, "pfdrive: %" PRIu64 " file operation calls recorded, %" PRIu64 " lost",
		counters->calls, counters->lost);
	if (counters->faults_lost != COUNT_NA && counters->faults_lost)
		fprintf(stderr, ", %" PRIu64 " fault records lost (see --ring-size)",
			counters->faults_lost);
	fprintf(stderr, ", in %s\n", record->options.output);
}

static int record_print(struct record *record)
{
	const struct report_options *options = &record->options.report;
	const bool recorded = record->options.output && !record->result.recording_failed;

	if (recorded && !options->json)
		return STATUS_OK;
	return recorded ? report_options_write(options, &record->result.report) :
			  report_options_print(options, &record->result.report);
}

/* Stores, explains and prints the measurement. The report replaces a recording that failed. */
static int record_conclude(struct record *record)
{
	int status, printed = STATUS_OK;

	watch_stop(record->watch);
	report_options_apply(&record->options.report, &record->result.report);
	status = watch_finish(record->watch);
	if (!status && record->options.output && !record->result.recording_failed)
		record_print_counts(record);
	if (record->result.filled)
		printed = record_print(record);
	return status ?: printed ?: result_status(&record->result);
}

static int record_run(struct record *record)
{
	struct watch_options *options = &record->options.watch;
	int status, ended;

	options->recording = record->options.output;
	options->groups = groups_of(&record->options);
	status = watch_open(&record->watch, options, &record->result);
	if (!status)
		status = watch_go(record->watch);
	if (status)
		return status;
	watch_wait(record->watch);
	status = record_conclude(record);
	ended = watch_status(record->watch);
	return status ? status : ended;
}

static int cmd_record(int argc, char **argv)
{
	struct record record = { 0 };
	int status;

	record_parse(&record.options, argc, argv);
	signals_init();
	result_init(&record.result);
	record_describe(&record);
	status = record.options.keep.keep_ns ?
			 record_keep(&record.options.keep, &record.options.watch,
				     record.options.output, &record.result) :
			 record_run(&record);
	watch_close(record.watch);
	result_free(&record.result);
	return status;
}

const struct subcommand record_command = {
	.name = "record",
	.title = "pfdrive record",
	.group = COMMAND_MEASURE,
	.summary = "watch any program: print a report, or record it",
	.run = cmd_record,
	.argp = &record_argp,
};
