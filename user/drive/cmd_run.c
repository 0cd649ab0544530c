// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive run: parses the arguments. */
#include "drive/drive.h"
#include "drive/run_arguments.h"

static const struct argp_child run_children[] = { { &run_arguments_argp, 0, NULL, 0 }, { 0 } };

static const struct argp run_argp = {
	.children = run_children,
	.args_doc = "[FILE]",
	.doc = "Maps FILE or memory, touches the bytes in a pattern's order, and prints the "
	       "page fault cost by class.\vNumbers take the suffixes K, M and G (1024). "
	       "FILE is only read unless --allow-write is given. An ordinary user measures "
	       "with perf; the pfstat module and eBPF, which show more about a fault, require "
	       "root.",
};

static int cmd_run(int argc, char **argv)
{
	struct options options;

	run_arguments_init(&options);
	argp_parse(&run_argp, argc, argv, 0, NULL, &options);
	return drive_main(&(struct drive_plan){ .options = &options, .arguments = argv + 1 });
}

const struct subcommand run_command = {
	.name = "run",
	.title = "pfdrive run",
	.group = COMMAND_MEASURE,
	.summary = "touch a file or memory, and measure the page faults",
	.run = cmd_run,
	.argp = &run_argp,
};
