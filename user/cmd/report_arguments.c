// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive report's command line. */
#include <string.h>
#include <unistd.h>

#include "cmd/report_arguments.h"
#include "privilege/named_files.h"
#include "util/argument.h"
#include "util/message.h"

enum report_key { KEY_FILE = 3000, KEY_FROM, KEY_TO, KEY_SLOWEST };

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
		usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
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

static const struct argp_option argp_options[] = {
	{ "file", KEY_FILE, "PATH", 0, "only faults on this file, named as --by file prints it",
	  1 },
	{ "from", KEY_FROM, "TIME", 0,
	  "only faults from this time on, counted from the recording's start: 1.5s, 200ms", 1 },
	{ "to", KEY_TO, "TIME", 0, "only faults before this time", 1 },
	{ "slowest", KEY_SLOWEST, "N", 0,
	  "print the N longest faults and what each waited for, in place of the tables; JSON and "
	  "the page have as many (default 10)",
	  1 },
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
	.options = argp_options,
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
