// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "../complain.h"
#include "../size.h"
#include "options.h"

#define DIRECTORY "/var/tmp"

enum key {
	KEY_FORMAT = 'f',
	KEY_QUICK = 'q',
	KEY_CPU = 4000,
	KEY_DIRECTORY,
	KEY_HUGE_PAGES,
	KEY_JSON,
	KEY_LIST,
	KEY_NO_BPF,
	KEY_PREDICT,
	KEY_REPORT,
	KEY_PLOT,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "What is measured, and how:", 1 },
	{ "list", KEY_LIST, NULL, 0, "only print what can be measured", 1 },
	{ "quick", KEY_QUICK, NULL, 0, "each within 5 s, not 60: fewer runs, less memory", 1 },
	{ "cpu", KEY_CPU, "N", 0, "on this CPU (default: the last one allowed)", 1 },
	{ "directory", KEY_DIRECTORY, "PATH", 0,
	  "make files there, on a disk (default " DIRECTORY ")", 1 },
	{ "huge-pages", KEY_HUGE_PAGES, NULL, 0, "measure memory in huge pages", 1 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0, "do not watch by eBPF and the module", 1 },
	{ NULL, 0, NULL, 0, "What is predicted, what is printed:", 2 },
	{ "predict", KEY_PREDICT, "FILE", 0, "predictions: lines NAME = FORMULA", 2 },
	{ "format", KEY_FORMAT, "table|csv|json", 0, "on standard output (default table)", 2 },
	{ "json", KEY_JSON, "FILE", 0, "write the JSON there as well", 2 },
	{ "report", KEY_REPORT, "FILE", 0, "write a report to be completed there", 2 },
	{ "plot", KEY_PLOT, "FOLDER", 0, "draw memory.latency there: SVG, PNG, data, script", 2 },
	{ 0 },
};

static const char doc[] =
	"Measures what operations of the system cost, beside what they should.\v"
	"NAME: an operation, a family of them (cpu), or a pattern ('switch.*'); without one, "
	"all. As root, with the pfstat module, each is also watched by eBPF.";

/* Says it and exits. */
#define usage(state, ...) argp_failure(state, STATUS_USAGE, 0, __VA_ARGS__)

static void set_format(const struct argp_state *state, struct bench_command *command,
		       const char *text)
{
	if (!strcmp(text, "table"))
		command->format = REPORT_TABLE;
	else if (!strcmp(text, "csv"))
		command->format = REPORT_CSV;
	else if (!strcmp(text, "json"))
		command->format = REPORT_JSON;
	else
		usage(state, "--format: '%s' is not one of table, csv, json", text);
}

static int cpu_of(const struct argp_state *state, const char *text)
{
	uint64_t number = 0;

	if (size_parse(text, &number) || number >= CPU_SETSIZE)
		usage(state, "--cpu: '%s' is not a number from 0 to %d", text, CPU_SETSIZE - 1);
	return number;
}

static void add_name(const struct argp_state *state, struct bench_command *command, char *name)
{
	char **grown = reallocarray(command->names, command->nr_names + 1, sizeof(*grown));

	if (!grown) {
		argp_failure(state, STATUS_FAILED, 0, "out of memory");
		return;
	}
	command->names = grown;
	grown[command->nr_names++] = name;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct bench_command *command = state->input;

	switch (key) {
	case KEY_LIST:
		command->list = true;
		return 0;
	case KEY_QUICK:
		command->options.quick = true;
		return 0;
	case KEY_CPU:
		command->options.cpu = cpu_of(state, text);
		return 0;
	case KEY_DIRECTORY:
		command->options.directory = text;
		return 0;
	case KEY_HUGE_PAGES:
		command->options.huge_pages = true;
		return 0;
	case KEY_NO_BPF:
		command->watch = false;
		return 0;
	case KEY_PREDICT:
		command->predict = text;
		return 0;
	case KEY_FORMAT:
		set_format(state, command, text);
		return 0;
	case KEY_JSON:
		command->json = text;
		return 0;
	case KEY_REPORT:
		command->report = text;
		return 0;
	case KEY_PLOT:
		command->plot = text;
		if (!strcmp(text, "-"))
			usage(state, "--plot: the figure is not drawn as text: name a folder");
		return 0;
	case ARGP_KEY_ARG:
		add_name(state, command, text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void bench_options_parse(struct bench_command *command, int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse_option, .args_doc = "[NAME...]",
		.doc = doc,
	};

	*command = (struct bench_command){
		.options = { .cpu = -1, .directory = DIRECTORY },
		.format = REPORT_TABLE,
		.watch = true,
	};
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, command);
}
