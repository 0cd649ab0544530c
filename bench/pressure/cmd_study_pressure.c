// SPDX-License-Identifier: GPL-2.0-only
/* pfbench pressure: its arguments, and the processes that it starts. */
#include <stdlib.h>
#include <string.h>

#include "bench/pfbench.h"
#include "bench/pressure/compete_options.h"
#include "bench/pressure/competitor.h"
#include "bench/pressure/run_pressure.h"
#include "drive/drive.h"
#include "drive/run_arguments.h"
#include "util/argument.h"
#include "util/message.h"

struct pressure_arguments {
	struct options run;
	struct compete_options compete;
};

static error_t study_pressure_parse_option(int key, char *text, struct argp_state *state)
{
	struct pressure_arguments *arguments = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->run;
		state->child_inputs[1] = &arguments->compete;
		return 0;
	case ARGP_KEY_SUCCESS:
		compete_options_check(state, &arguments->compete);
		if (arguments->run.record)
			usage(state,
			      "--record: a recording holds one run, and a study makes two; use "
			      "'pfdrive run'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child study_pressure_children[] = {
	{ &run_arguments_argp, 0, NULL, 0 },
	{ &compete_argp, 0, NULL, 0 },
	{ 0 },
};

static const struct argp study_pressure_argp = {
	.parser = study_pressure_parse_option,
	.children = study_pressure_children,
	.args_doc = "[FILE]",
	.doc = "Makes each run twice, alone and with processes that compete for memory, and "
	       "compares the page faults.\vNumbers take the suffixes K, M and G (1024). FILE is "
	       "only read unless --allow-write is given. Requires root, the pfstat module or "
	       "eBPF, and swap for the memory above the limit.",
};

static void pressure_parse(struct pressure_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct pressure_arguments){ 0 };
	run_arguments_init(&arguments->run);
	compete_options_parse(COMPETE_DEFAULT, &arguments->compete);
	argp_parse(&study_pressure_argp, argc, argv, 0, NULL, arguments);
}

static int cmd_study_pressure(int argc, char **argv)
{
	struct pressure_arguments arguments;

	pressure_parse(&arguments, argc, argv);
	return drive_main(&(struct drive_plan){
		.options = &arguments.run,
		.arguments = argv + 1,
		.make = run_pressure,
		.context = &arguments.compete,
	});
}

int pressure_accesses(int argc, char **argv, bool bare)
{
	struct pressure_arguments arguments;

	pressure_parse(&arguments, argc, argv);
	return drive_accesses(&arguments.run, bare);
}

/* BYTES random|sequential NUMBER PARENT USER */
int pressure_compete(int argc, char **argv)
{
	struct competitor_plan plan;

	if (argc != 6)
		return STATUS_USAGE;
	plan = (struct competitor_plan){
		.bytes = strtoull(argv[1], NULL, 10),
		.random = !strcmp(argv[2], "random"),
		.number = strtoul(argv[3], NULL, 10),
	};
	return competitor_live(&plan, atoi(argv[4]), argv[5]);
}

const struct subcommand pressure_command = {
	.name = "study pressure",
	.title = "pfdrive study pressure",
	.group = COMMAND_STUDY,
	.summary = "run beside processes that compete for memory",
	.run = cmd_study_pressure,
	.argp = &study_pressure_argp,
};
