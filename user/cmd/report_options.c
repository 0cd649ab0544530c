// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that record and report share: which tables a report has, and in which format it is
 * printed. Then pfdrive report's own command line.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report_options.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "privilege/output.h"
#include "util/argument.h"
#include "util/message.h"

enum key {
	KEY_BY = 2000,
	KEY_TOP,
	KEY_FORMAT = 'f',
	KEY_JSON = 2002,
	KEY_SUBTRACT,
	KEY_WITH,
	KEY_FULL,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Output:", 4 },
	{ "by", KEY_BY, "class|file|vma|thread|comm|code|function|line|stack", 0,
	  "add a fault table by file, mapping, thread, …", 4 },
	{ "top", KEY_TOP, "N", 0,
	  "number of rows in this table and the system calls, costliest first; 0: all (default "
	  "20)",
	  4 },
	{ "with", KEY_WITH, "rusage,syscalls", 0,
	  "add tables. rusage: getrusage(2) next to the eBPF counts. syscalls: system calls as "
	  "strace -c lists them",
	  4 },
	{ "subtract", KEY_SUBTRACT, NULL, 0,
	  "subtract the module's own time, as calibrated, from call times", 4 },
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "standard output format (default table)" REPORT_FORMAT_HELP
	  ". perfetto and the following require a recording",
	  4 },
	{ "json", KEY_JSON, "FILE", 0, "also write JSON to FILE", 4 },
	{ "full", KEY_FULL, NULL, 0, "print all tables, also those that are empty", 4 },
	{ 0 },
};

static void set_by(const struct argp_state *state, struct report_options *options, const char *text)
{
	static const char *const words[] = { "file", "vma",	 "thread", "code",  "stack",
					     "comm", "function", "line",   "class", NULL };
	const unsigned int by = argument_word(state, "by", text, words);

	options->grouped = by < NR_GROUP_BY;
	if (options->grouped)
		options->by = by;
}

static void set_format(const struct argp_state *state, struct report_options *options,
		       const char *text)
{
	options->format = argument_word(state, "format", text, report_format_words);
	if (report_format_has_faults(options->format) && !options->of_recording)
		usage(state,
		      "--format %s requires a recording; use 'pfdrive record --output', then "
		      "'pfdrive report'",
		      text);
}

static void add_tables(const struct argp_state *state, struct report_options *options,
		       const char *text)
{
	static const char *const words[] = { "rusage", "syscalls", NULL };
	const unsigned int items = argument_list(state, "with", text, words);

	options->usage |= items & 1U;
	options->syscalls |= items & 2U;
}

static error_t report_options_parse(int key, char *text, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case KEY_BY:
		set_by(state, options, text);
		return 0;
	case KEY_TOP:
		options->top = argument_number(state, "top", text, 0, GROUPS_MAX);
		return 0;
	case KEY_WITH:
		add_tables(state, options, text);
		return 0;
	case KEY_SUBTRACT:
		options->subtract = true;
		return 0;
	case KEY_FULL:
		options->full = true;
		return 0;
	case KEY_FORMAT:
		set_format(state, options, text);
		return 0;
	case KEY_JSON:
		options->json = text;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (options->format == REPORT_FOLDED && !options->grouped) {
			options->grouped = true;
			options->by = GROUP_BY_STACK;
		}
		named_files_output(state, "--json", options->json);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp report_options_argp = { .options = argp_options, .parser = report_options_parse };

void report_options_init(struct report_options *options)
{
	*options = (struct report_options){ .format = REPORT_TABLE, .top = REPORT_TOP };
}

int report_options_write(const struct report_options *options, const struct report *report)
{
	struct output *output;
	int err;

	if (!options->json)
		return STATUS_OK;
	err = output_open(&output, options->json);
	if (!err) {
		err = print_report(output_stream(output), REPORT_JSON, report, 1);
		if (err)
			output_close(output);
		else
			err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", options->json,
			     invoker_strerror(err)) :
		     STATUS_OK;
}

void report_options_apply(const struct report_options *options, struct report *report)
{
	report->groups.wanted = options->grouped;
	report->groups.by = options->by;
	report->top = options->top;
	report->full = options->full;
	report->cost.subtract = options->subtract;
	report->extras.print_usage = options->usage;
	report->extras.print_syscalls = options->syscalls;
}

int report_options_print(const struct report_options *options, const struct report *report)
{
	int err = print_report(stdout, options->format, report, 1);
	int printed, written;

	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	printed = err ? message_of_stdout(err, "the report") : STATUS_OK;
	written = report_options_write(options, report);
	return printed ? printed : written;
}

/* pfdrive report's command line. */

enum report_key { KEY_FILE = 3000, KEY_FROM, KEY_TO, KEY_SLOWEST, KEY_COLUMNS };

static void report_name_files(const struct argp_state *state,
			      const struct report_arguments *options)
{
	named_files_input(state, "the recording", options->recording);
	named_files_output(state, "--output", options->output);
	named_files_output(state, "--html", options->figures.html);
}

static void report_check_range(const struct argp_state *state,
			       const struct report_arguments *options)
{
	if (!report_format_has_faults(options->report.format))
		usage(state, "--from and --to require a format with every fault; add --format "
			     "perfetto, for example");
	if (!strcmp(options->recording, "-"))
		usage(state, "--from and --to: cannot read standard input twice; name a recording");
	if (options->range.to_ns <= options->range.from_ns)
		usage(state, "--to is not after --from; the range is empty");
}

static void report_check_slowest(const struct argp_state *state,
				 const struct report_arguments *options)
{
	const struct report_options *report = &options->report;
	const enum report_format format = report->format;

	if (report_figures_as_text(&options->figures))
		usage(state, "--slowest and --plot - both replace the table; choose one");
	if (format == REPORT_TABLE &&
	    (report->grouped || report->full || report->usage || report->syscalls))
		usage(state, "--slowest replaces the tables; leave --by, --with and --full out");
	if (format != REPORT_TABLE && format != REPORT_JSON && format != REPORT_PERFETTO)
		usage(state,
		      "--slowest: --format %s has no longest faults; choose table, json or "
		      "perfetto",
		      report_format_words[format]);
}

static void report_check_text(const struct argp_state *state,
			      const struct report_arguments *options)
{
	const enum report_format format = options->report.format;

	if (report_format_is_binary(format))
		usage(state, "--format %s is not text; name a file with --output",
		      report_format_words[format]);
}

static error_t report_parse_option(int key, char *text, struct argp_state *state)
{
	struct report_arguments *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->report;
		return 0;
	case 'o':
		options->output = text;
		return 0;
	case KEY_FILE:
		options->file = text;
		return 0;
	case KEY_FROM:
		options->range.from_ns = argument_time(state, "from", text);
		options->ranged = true;
		return 0;
	case KEY_TO:
		options->range.to_ns = argument_time(state, "to", text);
		options->ranged = true;
		return 0;
	case KEY_SLOWEST:
		options->slowest = argument_number(state, "slowest", text, 1, SLOWEST_MAX);
		return 0;
	case KEY_COLUMNS:
		options->columns = true;
		return 0;
	case FIGURES_KEY_HTML:
		options->figures.html = text;
		return 0;
	case FIGURES_KEY_PLOT:
		options->figures.plot = text;
		return 0;
	case ARGP_KEY_ARG:
		if (options->recording)
			usage(state, "unexpected argument '%s'; give one RECORDING", text);
		options->recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!options->columns)
			usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
		if (options->columns)
			return 0;
		report_name_files(state, options);
		if (options->file && !strcmp(options->recording, "-"))
			usage(state, "--file: cannot read standard input twice; name a recording");
		if (options->ranged)
			report_check_range(state, options);
		if (options->slowest)
			report_check_slowest(state, options);
		if (report_figures_as_text(&options->figures) &&
		    options->report.format != REPORT_TABLE)
			usage(state, "--plot - prints figures in place of the table; leave "
				     "--format out");
		if (!options->output && isatty(STDOUT_FILENO))
			report_check_text(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option report_argp_options[] = {
	{ "file", KEY_FILE, "PATH", 0, "only faults on this file, named as --by file prints it",
	  1 },
	{ "from", KEY_FROM, "TIME", 0,
	  "only faults from this time on, counted from the recording's start: 1.5s, 200ms", 1 },
	{ "to", KEY_TO, "TIME", 0, "only faults before this time", 1 },
	{ "slowest", KEY_SLOWEST, "N", 0,
	  "print the N longest faults and what each waited for, in place of the tables; JSON and "
	  "the page have as many (default 10)",
	  1 },
	{ "columns", KEY_COLUMNS, NULL, 0,
	  "print the columns of the formats that have rows, as CSV, and exit", 4 },
	{ "output", 'o', "FILE", 0, "print to FILE instead of standard output", 4 },
	FIGURES_OPTIONS_HTML,
	{ "plot", FIGURES_KEY_PLOT, "FOLDER|-", 0,
	  "also write the figures to this folder (SVG, PNG, data, scripts); -: print two as "
	  "text",
	  4 },
	{ 0 },
};

static const struct argp_child report_children[] = {
	{ &report_options_argp, 0, NULL, 0 },
	{ 0 },
};

const struct argp report_arguments_argp = {
	.options = report_argp_options,
	.parser = report_parse_option,
	.children = report_children,
	.args_doc = "RECORDING",
	.doc = "Prints a recording: how much time page faults took, and why."
	       "\vRECORDING is a file written by 'pfdrive record', or - for standard input. "
	       "Requires neither root nor the recorded machine.",
};

void report_arguments_parse(struct report_arguments *options, int argc, char **argv)
{
	report_options_init(&options->report);
	options->report.of_recording = true;
	options->range = TIME_RANGE_ALL;
	argp_parse(&report_arguments_argp, argc, argv, 0, NULL, options);
}
