// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive study rss: plans the steps (mmap, then a byte each), has a separate process make them,
 * and prints the process's sizes and faults after each step.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench/pfbench.h"
#include "bench/rss/rss_watched.h"
#include "privilege/invoker.h"
#include "system/machine.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/text.h"
#include "workload/workload.h"

struct touch_options {
	const char *file;
	uint64_t offsets[RSS_TOUCHES_MAX];
	unsigned int nr_offsets;
	bool warm, fault_around, json, bpf;
};

enum key {
	KEY_CACHE = 'c',
	KEY_FORMAT = 'f',
	KEY_FAULT_AROUND = 1000,
	KEY_NO_BPF,
};

static const struct argp_option argp_options[] = {
	{ "cache", KEY_CACHE, "cold|warm", 0,
	  "page cache state before: no file page, or all (default cold)", 1 },
	{ "fault-around", KEY_FAULT_AROUND, "keep|off", 0,
	  "off: each page faults separately (default keep)", 1 },
	{ "format", KEY_FORMAT, "table|json", 0, "standard output format (default table)", 2 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0, "run without eBPF; only faults on the file are then seen",
	  2 },
	{ 0 },
};

static void add_argument(const struct argp_state *state, struct touch_options *options,
			 const char *text)
{
	if (!options->file) {
		options->file = text;
		return;
	}
	if (options->nr_offsets == RSS_TOUCHES_MAX)
		usage(state, "at most %d offsets can be given; leave out '%s'", RSS_TOUCHES_MAX,
		      text);
	if (size_parse(text, &options->offsets[options->nr_offsets]))
		usage(state,
		      "'%s' is not an offset; give a number of bytes, with or without K, M or G",
		      text);
	options->nr_offsets++;
}

/* The study's defaults: the first byte, and one in another page. */
static void study_rss_add_defaults(struct touch_options *options)
{
	if (options->nr_offsets)
		return;
	options->offsets[options->nr_offsets++] = 0;
	options->offsets[options->nr_offsets++] = 10000;
}

static error_t study_rss_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const caches[] = { "cold", "warm", NULL };
	static const char *const around[] = { "keep", "off", NULL };
	static const char *const formats[] = { "table", "json", NULL };
	struct touch_options *options = state->input;

	switch (key) {
	case KEY_CACHE:
		options->warm = argument_word(state, "cache", text, caches);
		return 0;
	case KEY_FAULT_AROUND:
		options->fault_around = !argument_word(state, "fault-around", text, around);
		return 0;
	case KEY_FORMAT:
		options->json = argument_word(state, "format", text, formats);
		return 0;
	case KEY_NO_BPF:
		options->bpf = false;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(state, options, text);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!options->file)
			usage(state, "no FILE was given; usage: pfdrive study rss FILE "
				     "[OFFSET...]");
		study_rss_add_defaults(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child study_rss_children[] = { { &invoker_argp, 0, NULL, 0 }, { 0 } };

static const struct argp study_rss_argp = {
	.options = argp_options,
	.parser = study_rss_parse_option,
	.children = study_rss_children,
	.args_doc = "FILE [OFFSET...]",
	.doc = "Maps a file, touches bytes in it, and prints the process size and the page fault "
	       "after each step.\vAn OFFSET is a number of bytes (default 0 and 10000) and takes "
	       "the suffixes K, M and G (1024). FILE is only read. Requires root; the pfstat "
	       "module is used if it is loaded.",
};

/* An OFFSET below 0, which getopt_long() would take for options. */
static const char *negative_offset(char **argv)
{
	for (argv++; *argv && strcmp(*argv, "--"); argv++)
		if (argv[0][0] == '-' && isdigit((unsigned char)argv[0][1]))
			return *argv;
	return NULL;
}

static int study_rss_parse(struct touch_options *options, int argc, char **argv)
{
	const char *negative = negative_offset(argv);

	if (negative)
		return message(STATUS_USAGE, "'%s' is not an offset; an offset is at least 0",
			       negative);
	*options = (struct touch_options){ .fault_around = true, .bpf = true };
	argp_parse(&study_rss_argp, argc, argv, 0, NULL, options);
	return STATUS_OK;
}

static int plan_steps(const struct touch_options *options, const struct mapping *mapping,
		      struct rss_report *report)
{
	unsigned int i;

	report->steps[report->nr_steps++].kind = RSS_START;
	report->steps[report->nr_steps++].kind = RSS_MMAP;
	for (i = 0; i < options->nr_offsets; i++) {
		if (options->offsets[i] >= mapping->bytes)
			return message(STATUS_USAGE,
				       "cannot touch byte %" PRIu64 " of %s: it has only "
				       "%" PRIu64 " bytes",
				       options->offsets[i], options->file, mapping->bytes);
		report->steps[report->nr_steps++] = (struct rss_step){
			.kind = RSS_TOUCH,
			.offset = options->offsets[i],
		};
	}
	return STATUS_OK;
}

static int study_rss_print(const struct rss_report *report, bool json)
{
	int err = json ? rss_json(stdout, report) : rss_table(stdout, report);

	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	return err ? message_of_stdout(err, "the results") : STATUS_OK;
}

static int study_rss_run(const struct touch_options *options, struct mapping *mapping)
{
	const struct rss_plan plan = {
		.mapping = mapping,
		.name = options->file,
		.warm = options->warm,
		.fault_around = options->fault_around,
		.bpf = options->bpf,
	};
	struct rss_report report = { .nr_steps = 0 };
	struct report empty;
	int status;

	status = plan_steps(options, mapping, &report);
	if (status)
		return status;
	report_init(&empty);
	report.environment = empty.environment;
	mapping_describe(mapping, options->file, &report.environment);
	strcpy(report.environment.cache, options->warm ? "warm" : "cold");
	report.environment.fault_around = options->fault_around;
	status = rss_watched(&plan, &report);
	return status ? status : study_rss_print(&report, options->json);
}

static int cmd_study_rss(int argc, char **argv)
{
	const struct workload workload = { .kind = MAPPING_SHARED };
	struct mapping mapping = MAPPING_NONE;
	struct touch_options options;
	char name[4096];
	int status;

	status = study_rss_parse(&options, argc, argv);
	if (status)
		return status;
	signals_init();
	status = workload_open(&workload, options.file, false, &mapping, name, sizeof(name));
	if (!status)
		status = study_rss_run(&options, &mapping);
	mapping_close(&mapping);
	return status;
}

const struct subcommand rss_command = {
	.name = "study rss",
	.title = "pfdrive study rss",
	.group = COMMAND_STUDY,
	.summary = "show how touching a file grows a process",
	.run = cmd_study_rss,
	.argp = &study_rss_argp,
};
