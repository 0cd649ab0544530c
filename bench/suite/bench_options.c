// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the pfdrive bench command line into a struct bench_command, and refuses meaningless
 * combinations before anything is measured.
 */
#include <argp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/bench_options.h"
#include "bench/suite/ops/peer_protocol.h"
#include "print/print_report.h"
#include "privilege/named_files.h"
#include "util/argument.h"

#define DIRECTORY "/var/tmp"

enum key {
	KEY_FORMAT = 'f',
	KEY_QUICK = 'q',
	KEY_CPU = 4000,
	KEY_DIRECTORY,
	KEY_HUGE_PAGES,
	KEY_JSON,
	KEY_LIST,
	KEY_NFS,
	KEY_NO_BPF,
	KEY_PEER,
	KEY_PORT,
	KEY_PREDICT,
	KEY_REPORT,
	KEY_SERVE,
	KEY_PLOT,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Measurement:", 1 },
	{ "list", KEY_LIST, NULL, 0, "list the operations, and exit", 1 },
	{ "quick", KEY_QUICK, NULL, 0,
	  "at most 5 s per operation instead of 60, with fewer runs and less memory", 1 },
	{ "cpu", KEY_CPU, "N", 0, "measure on this CPU (default: the last allowed one)", 1 },
	{ "directory", KEY_DIRECTORY, "PATH", 0,
	  "make the files in this folder, on a disk (default " DIRECTORY ")", 1 },
	{ "nfs", KEY_NFS, "PATH", 0, "also make files in this folder, on NFS", 1 },
	{ "huge-pages", KEY_HUGE_PAGES, NULL, 0, "use huge pages for loads and bandwidth", 1 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0, "do not watch operations with eBPF", 1 },
	{ "peer", KEY_PEER, "HOST", 0, "also measure the network to HOST", 1 },
	{ "serve", KEY_SERVE, "ADDRESS", OPTION_ARG_OPTIONAL,
	  "do not measure; serve as the peer until a signal (default 127.0.0.1)", 1 },
	{ "port", KEY_PORT, "N", 0, "the peer's port (default " PEER_PORT ")", 1 },
	{ NULL, 0, NULL, 0, "Predictions and output:", 2 },
	{ "predict", KEY_PREDICT, "FILE", 0, "read predictions from FILE: lines NAME = FORMULA",
	  2 },
	{ "format", KEY_FORMAT, "table|csv|json", 0, "standard output format (default table)", 2 },
	{ "json", KEY_JSON, "FILE", 0, "also write JSON to FILE", 2 },
	{ "report", KEY_REPORT, "FILE", 0, "write a report skeleton to FILE", 2 },
	{ "plot", KEY_PLOT, "FOLDER", 0,
	  "draw memory.latency into this folder: SVG, PNG, data, script", 2 },
	{ 0 },
};

static const char doc[] =
	"Measures what system operations cost, and compares it with predictions.\vNAME is an "
	"operation, a family (cpu) or a pattern ('switch.*'); default: all. As root, eBPF "
	"also watches each operation, with the pfstat module if it is loaded.";

/* The port stays text, for getaddrinfo(3). */
static const char *bench_options_port(const struct argp_state *state, const char *text)
{
	if (text[strspn(text, "0123456789")]) /* no suffix such as K */
		usage(state, "--port: '%s' is not a number from 1 to %d", text, UINT16_MAX);
	argument_number(state, "port", text, 1, UINT16_MAX);
	return text;
}

static const char *bench_options_host(const struct argp_state *state, const char *text)
{
	if (!*text)
		usage(state, "--peer requires a host's name or address");
	return text;
}

/* Remembers the last argument about measuring, for the message from --list or --serve. */
static void note_measuring(struct bench_command *command, int key, const char *text)
{
	const struct argp_option *option = argp_options;

	if (key == KEY_LIST || key == KEY_SERVE || key == KEY_PORT)
		return;
	while ((option->doc || option->name) && option->key != key)
		option++;
	if (!option->name && key != ARGP_KEY_ARG)
		return;
	command->measuring = option->name ?: text;
	command->measuring_dashes = option->name ? "--" : "";
}

static void bench_options_check(const struct argp_state *state, const struct bench_command *command)
{
	if (command->serve && command->list)
		usage(state, "give only one of --serve and --list");
	if ((command->serve || command->list) && command->measuring)
		usage(state, "--%s does not measure; leave out %s%s",
		      command->serve ? "serve" : "list", command->measuring_dashes,
		      command->measuring);
	named_files_input(state, "--predict", command->predict);
	named_files_output(state, "--json", command->json);
	named_files_output(state, "--report", command->report);
}

static void bench_options_add_name(const struct argp_state *state, struct bench_command *command,
				   char *name)
{
	char **grown = reallocarray(command->names, command->nr_names + 1, sizeof(*grown));

	if (!grown) {
		argp_failure(state, STATUS_FAILED, 0, "out of memory");
		return;
	}
	command->names = grown;
	grown[command->nr_names++] = name;
}

static error_t bench_options_parse_one(int key, char *text, struct argp_state *state)
{
	struct bench_command *command = state->input;

	note_measuring(command, key, text);
	switch (key) {
	case KEY_LIST:
		command->list = true;
		return 0;
	case KEY_QUICK:
		command->options.quick = true;
		return 0;
	case KEY_CPU:
		command->options.cpu = argument_number(state, "cpu", text, 0, CPUS_MAX - 1);
		return 0;
	case KEY_DIRECTORY:
		command->options.directory = text;
		return 0;
	case KEY_NFS:
		command->options.nfs = text;
		return 0;
	case KEY_HUGE_PAGES:
		command->options.huge_pages = true;
		return 0;
	case KEY_NO_BPF:
		command->watch = false;
		return 0;
	case KEY_PEER:
		command->options.peer = bench_options_host(state, text);
		return 0;
	case KEY_PORT:
		command->options.port = bench_options_port(state, text);
		return 0;
	case KEY_SERVE:
		command->serve = true;
		command->serve_address = text;
		return 0;
	case KEY_PREDICT:
		command->predict = text;
		return 0;
	case KEY_FORMAT:
		command->format = argument_word(state, "format", text, result_format_words);
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
			usage(state, "--plot: cannot draw this figure as text; name a folder");
		return 0;
	case ARGP_KEY_ARG:
		bench_options_add_name(state, command, text);
		return 0;
	case ARGP_KEY_SUCCESS:
		bench_options_check(state, command);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp bench_argp = {
	.options = argp_options,
	.parser = bench_options_parse_one,
	.args_doc = "[NAME...]",
	.doc = doc,
};

void bench_options_parse(struct bench_command *command, int argc, char **argv)
{
	*command = (struct bench_command){
		.options = { .cpu = -1, .directory = DIRECTORY, .port = PEER_PORT },
		.format = REPORT_TABLE,
		.watch = true,
	};
	argp_parse(&bench_argp, argc, argv, 0, NULL, command);
}
