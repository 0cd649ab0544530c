// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "../argument.h"
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
	{ 0 },
};

static const char doc[] =
	"Measures what operations of the system cost, beside what they should.\v"
	"NAME: an operation, a family of them (cpu), or a pattern ('switch.*'); without one, "
	"all. As root, with the pfstat module, each is also watched by eBPF.";

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
	static const char *const formats[] = {
		[REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL
	};
	struct bench_command *command = state->input;

	switch (key) {
	case KEY_LIST:
		command->list = true;
		return 0;
	case KEY_QUICK:
		command->options.quick = true;
		return 0;
	case KEY_CPU:
		command->options.cpu = argument_number(state, "cpu", text, 0, CPU_SETSIZE - 1);
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
		command->format = argument_word(state, "format", text, formats);
		return 0;
	case KEY_JSON:
		command->json = text;
		return 0;
	case KEY_REPORT:
		command->report = text;
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
