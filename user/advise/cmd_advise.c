// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive advise: replays a recording under several policies, and ranks them. */
#include <argp.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/advise_print.h"
#include "privilege/named_files.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"

#define ROUNDS_DEFAULT 7
#define ROUNDS_MAX     1000

struct advise_arguments {
	struct advise_options options;
	bool json;
};

enum key {
	KEY_FORMAT = 'f',
	KEY_ROUNDS = 'n',
	KEY_FILE = 1000,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Advise:", 1 },
	{ "file", KEY_FILE, "PATH", 0,
	  "advise only this recorded file (default: all files that are not executed)", 1 },
	{ "rounds", KEY_ROUNDS, "N", 0, "replay each policy N times (default 7)", 1 },
	{ NULL, 0, NULL, 0, "Output:", 2 },
	{ "format", KEY_FORMAT, "table|json", 0, "standard output format (default table)", 2 },
	{ 0 },
};

static error_t advise_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = { "table", "json", NULL };
	struct advise_arguments *arguments = state->input;

	switch (key) {
	case KEY_FILE:
		arguments->options.path = text;
		return 0;
	case KEY_ROUNDS:
		arguments->options.rounds = argument_number(state, "rounds", text, 1, ROUNDS_MAX);
		return 0;
	case KEY_FORMAT:
		arguments->json = argument_word(state, "format", text, formats);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->options.recording)
			usage(state, "unexpected argument '%s'; give one RECORDING", text);
		arguments->options.recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_input(state, "the recording", arguments->options.recording);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp advise_argp = {
	.options = argp_options,
	.parser = advise_parse_option,
	.args_doc = "RECORDING",
	.doc = "Replays the accesses by all threads to all files in a recording under different "
	       "advice, read-ahead and fault-around, and ranks these by the run time that each "
	       "would save.\vThe files are only read. Record with --fault-around off, so that the "
	       "recording has each accessed page. The module is not required. Machine settings are "
	       "tried only as root, and restored.",
};

static int advise_print(const struct advise_arguments *arguments, const struct advise *advise)
{
	int err = arguments->json ? advise_json_print(stdout, advise) :
				    advise_print_table(stdout, advise);

	return err ? message_of_stdout(err, "the ranking") : STATUS_OK;
}

static int cmd_advise(int argc, char **argv)
{
	struct advise_arguments arguments = { .options.rounds = ROUNDS_DEFAULT };
	struct advise advise;
	int status;

	argp_parse(&advise_argp, argc, argv, 0, NULL, &arguments);
	signals_init();
	status = advise_run(&advise, &arguments.options);
	if (!status)
		status = advise_print(&arguments, &advise);
	advise_exit(&advise);
	return status;
}

const struct subcommand advise_command = {
	.name = "advise",
	.title = "pfdrive advise",
	.group = COMMAND_MEASURE,
	.summary = "replay a recording under each policy, and rank them",
	.run = cmd_advise,
	.argp = &advise_argp,
};
