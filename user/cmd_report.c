// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_report.h"
#include "complain.h"
#include "interrupt.h"
#include "output.h"
#include "recording/facts_json.h"
#include "recording/reader.h"
#include "report/head_json.h"
#include "report/report.h"
#include "report/trace.h"
#include "size.h"

#define FORMAT_TRACE ((enum report_format)(REPORT_JSON + 1))

struct report_options {
	const char *recording;
	enum report_format format;
	bool grouped;
	enum group_by by;
	unsigned int top;
	const char *json;	/* NULL: no file */
	const char *out;	/* NULL: standard output */
};

struct reading {
	struct report_options options;
	struct recording_reader *reader;
	int fd;			/* the recording's; -1: standard input */
	struct analysis *analysis;
	struct facts facts;
	struct report report;
	struct trace_writer *trace;
	struct output *out, *json;
	uint64_t nr_items;
	char damage[512];
};

enum key {
	KEY_FORMAT = 'f',
	KEY_OUT = 'o',
	KEY_BY = 'b',
	KEY_TOP = 'n',
	KEY_JSON = 256,
};

static const struct argp_option argp_options[] = {
	{ "by", KEY_BY, "class|file|vma|thread|code", 0,
	  "also the costliest files, mappings, threads or places in the code (default class: "
	  "by class alone)", 1 },
	{ "top", KEY_TOP, "N", 0, "as many of them; 0: all (default 20)", 1 },
	{ "format", KEY_FORMAT, "table|csv|json|trace", 0,
	  "trace: for Perfetto's viewer (default table)", 1 },
	{ "output", KEY_OUT, "FILE", 0, "instead of standard output", 1 },
	{ "json", KEY_JSON, "FILE", 0, "write the JSON there as well", 1 },
	{ 0 },
};

/* Says it and exits. */
#define usage(state, ...) argp_failure(state, STATUS_USAGE, 0, __VA_ARGS__)

static unsigned int word_of(const struct argp_state *state, const char *name, const char *text,
			    const char *const *words, const char *all)
{
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	usage(state, "--%s: '%s' is not one of %s", name, text, all);
	return 0;
}

static void set_by(const struct argp_state *state, struct report_options *options,
		   const char *text)
{
	static const char *const words[] = { "class", "file", "vma", "thread", "code", NULL };
	const unsigned int word = word_of(state, "by", text, words,
					  "class, file, vma, thread, code");

	_Static_assert(GROUP_BY_FILE == 0 && GROUP_BY_CODE == 3, "the words' order, but class");
	options->grouped = word;
	options->by = word ? word - 1 : 0;
}

static unsigned int top_of(const struct argp_state *state, const char *text)
{
	uint64_t number = 0;

	if (size_parse(text, &number) || number > UINT32_MAX)
		usage(state, "--top: '%s' is not a number from 0 to %u", text, UINT32_MAX);
	return number;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = {
		[REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json",
		[FORMAT_TRACE] = "trace", NULL
	};
	struct report_options *options = state->input;

	switch (key) {
	case KEY_BY:
		set_by(state, options, text);
		return 0;
	case KEY_TOP:
		options->top = top_of(state, text);
		return 0;
	case KEY_FORMAT:
		options->format = word_of(state, "format", text, formats,
					  "table, csv, json, trace");
		return 0;
	case KEY_OUT:
		options->out = text;
		return 0;
	case KEY_JSON:
		options->json = text;
		return 0;
	case ARGP_KEY_ARG:
		if (options->recording)
			usage(state, "one RECORDING at a time: '%s' is too many", text);
		options->recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage(state, "no RECORDING was given; see --help");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void parse(struct report_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse_option, .args_doc = "RECORDING",
		.doc = "Prints what a recording holds: where the time of its page faults went.\v"
		       "RECORDING is a file of pfdrive record, or - for standard input. Needs "
		       "neither root nor the machine that it was made on.",
	};

	*options = (struct report_options){ .format = REPORT_TABLE, .top = REPORT_TOP };
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

static int open_recording(struct reading *reading)
{
	const char *path = reading->options.recording;
	char why[512];
	FILE *file;
	int err;

	if (!strcmp(path, "-")) {
		err = recording_open(&reading->reader, path, why, sizeof(why));
	} else {
		file = fopen(path, "re");
		if (!file)
			return complain(STATUS_FAILED, "cannot open %s: %s", path, strerror(errno));
		reading->fd = fileno(file);
		err = recording_open_file(&reading->reader, file, path, why, sizeof(why));
	}
	if (err)
		return complain(STATUS_FAILED, "%s", why);
	if (head_from_json(&reading->report, recording_head(reading->reader)))
		return complain(STATUS_FAILED, "%s does not say what it is a recording of", path);
	return STATUS_OK;
}

static int open_output(const struct reading *reading, struct output **output, const char *path)
{
	int err;

	if (!path)
		return STATUS_OK;
	err = output_open(output, path, reading->fd);
	if (err == -EEXIST)
		return complain(STATUS_USAGE, "%s is the recording: it is never written to", path);
	return err ? complain(STATUS_FAILED, "cannot write %s: %s", path, strerror(-err)) :
		     STATUS_OK;
}

static FILE *stream_of(const struct reading *reading)
{
	return reading->out ? output_stream(reading->out) : stdout;
}

static int open_analysis(struct reading *reading)
{
	int err;

	reading->analysis = analysis_new(reading->report.have_bpf);
	err = reading->analysis ? 0 : -ENOMEM;
	if (!err && reading->options.format == FORMAT_TRACE) {
		err = trace_begin(&reading->trace, stream_of(reading));
		if (!err)
			err = analysis_listen(reading->analysis, trace_fault, reading->trace);
	}
	return err ? complain(STATUS_FAILED, "cannot begin: %s", strerror(-err)) : STATUS_OK;
}

/* The trace first: it wants to know a request before the fault that waited for it. */
static int take_item(struct reading *reading, const struct item *item)
{
	int err = reading->trace ? trace_item(reading->trace, item) : 0;

	reading->nr_items++;
	return err ? err : analysis_add(reading->analysis, item);
}

static int read_items(struct reading *reading)
{
	struct item item;
	int ret = 1, err = 0;

	while (!err && !interrupt_signal) {
		ret = recording_next(reading->reader, &item);
		if (ret <= 0)
			break;
		err = take_item(reading, &item);
	}
	if (interrupt_signal)
		return 128 + interrupt_signal;
	/* Whole by its checks, and yet no item of ours: what came before it counts. */
	if (err == -EINVAL) {
		snprintf(reading->damage, sizeof(reading->damage),
			 "%.200s holds an item that is not known, number %" PRIu64,
			 reading->options.recording, reading->nr_items);
		err = 0;
	}
	if (!err)
		err = ret < 0 ? ret : analysis_finish(reading->analysis);
	return err ? complain(STATUS_FAILED, "cannot explain %s: %s", reading->options.recording,
			      strerror(-err)) : STATUS_OK;
}

static int name_code(struct reading *reading)
{
	const json_t *symbols = recording_symbols(reading->reader), *symbol, *offset;
	const char *path, *name;
	size_t i;
	int err = 0;

	json_array_foreach(symbols, i, symbol) {
		path = json_string_value(json_object_get(symbol, "path"));
		offset = json_object_get(symbol, "offset");
		name = json_string_value(json_object_get(symbol, "name"));
		if (path && name && json_is_integer(offset) && !err)
			err = analysis_name_code(reading->analysis, path,
						 json_integer_value(offset), name);
	}
	return err;
}

/* Without a tail, or with one that says nothing, the facts stay unknown. */
static void read_tail(struct reading *reading)
{
	const json_t *tail = recording_tail(reading->reader);
	const char *damage = recording_damage(reading->reader);

	if (damage && !reading->damage[0])
		snprintf(reading->damage, sizeof(reading->damage), "%s", damage);
	/* What was counted is of all items. */
	if (!tail || reading->damage[0])
		return;
	if (facts_from_json(&reading->facts, tail))
		snprintf(reading->damage, sizeof(reading->damage),
			 "the counts at the end of %.200s cannot be understood",
			 reading->options.recording);
}

static int fill(struct reading *reading)
{
	const struct report_options *options = &reading->options;
	struct report *report = &reading->report;
	int err;

	read_tail(reading);
	if (reading->damage[0])
		report->damage = reading->damage;
	report->grouped = options->grouped;
	report->by = options->by;
	report->top = options->top;
	err = name_code(reading);
	if (!err)
		err = report_fill(report, reading->analysis, &reading->facts);
	return err ? complain(STATUS_FAILED, "out of memory") : STATUS_OK;
}

static int print_main(struct reading *reading)
{
	struct trace_writer *trace = reading->trace;
	int err;

	if (trace) {
		reading->trace = NULL;
		err = trace_end(trace, reading->report.damage);
	} else {
		err = report_print(stream_of(reading), reading->options.format, &reading->report, 1);
	}
	return err;
}

static int commit(struct output **output)
{
	struct output *finished = *output;

	*output = NULL;
	return finished ? output_commit(finished) : 0;
}

static int print(struct reading *reading)
{
	const struct report_options *options = &reading->options;
	int err;

	err = print_main(reading);
	if (!err)
		err = commit(&reading->out);
	if (err)
		return complain(STATUS_FAILED, "cannot write %s: %s",
				options->out ?: "the report", strerror(-err));
	if (!reading->json)
		return STATUS_OK;
	err = report_print(output_stream(reading->json), REPORT_JSON, &reading->report, 1);
	if (!err)
		err = commit(&reading->json);
	return err ? complain(STATUS_FAILED, "cannot write %s: %s", options->json, strerror(-err)) :
		     STATUS_OK;
}

static int report_steps(struct reading *reading)
{
	int status;

	status = open_recording(reading);
	if (!status)
		status = open_output(reading, &reading->out, reading->options.out);
	if (!status)
		status = open_output(reading, &reading->json, reading->options.json);
	if (!status)
		status = open_analysis(reading);
	if (!status)
		status = read_items(reading);
	if (!status)
		status = fill(reading);
	if (!status)
		status = print(reading);
	/* Said, but no failure: what could be read was printed, and says so too. */
	if (!status && reading->report.damage)
		complain(STATUS_OK, "%s", reading->report.damage);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct reading reading = { .fd = -1 };
	int status;

	parse(&reading.options, argc, argv);
	interrupt_init();
	report_init(&reading.report);
	facts_init(&reading.facts);
	status = report_steps(&reading);
	if (reading.trace)
		trace_end(reading.trace, "interrupted");
	report_exit(&reading.report);
	analysis_free(reading.analysis);
	facts_exit(&reading.facts);
	recording_close(reading.reader);
	output_close(reading.out);
	output_close(reading.json);
	return status;
}
