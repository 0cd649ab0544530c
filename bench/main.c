// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfbench: the measurements of the studies. pfdrive bench and pfdrive study start it, and print
 * the same messages.
 */
#include <stdio.h>
#include <string.h>

#include "bench/pfbench.h"
#include "cmd/cmd.h"
#include "print/printers.h"
#include "util/json_value.h"
#include "util/message.h"

static int pfbench_usage(FILE *out, int status)
{
	const struct subcommand *const *command;

	fputs("Usage: pfbench COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
	for (command = bench_commands; *command; command++)
		fprintf(out, "  %-10s %s\n", bench_command_word(*command), (*command)->summary);
	fputs("\npfbench COMMAND --help lists the command's options.\n", out);
	return fflush(out) || ferror(out) ? STATUS_FAILED : status;
}

/* bash|zsh: pfdrive's completion, which has no options for pfbench's own commands. */
static int pfbench_complete(int argc, char **argv)
{
	const struct subcommand *all[BENCH_MAX_COMMANDS];
	const size_t nr = bench_commands_all(all);
	int err;

	if (argc != 2 || !completion_print(stdout, argv[1], all, nr))
		return STATUS_USAGE;
	err = fflush(stdout) || ferror(stdout) ? -1 : 0;
	return err ? message_of_stdout(err, "the completion") : STATUS_OK;
}

/* FILE: the JSON schema of pfdrive's reports, from the part by hand. */
static int pfbench_schema(int argc, char **argv)
{
	json_t *schema;
	int err;

	if (argc != 2)
		return STATUS_USAGE;
	schema = json_schema(argv[1]);
	if (!schema)
		return STATUS_FAILED;
	err = value_print(stdout, schema);
	return err ? message_of_stdout(err, "the JSON schema") : STATUS_OK;
}

/* Commands started by pfbench and the build. Others are pfdrive helpers. */
static int pfbench_helper(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "competitor"))
		return pressure_compete(argc - 1, argv + 1);
	if (!strcmp(name, "loop") || !strcmp(name, "bare-loop"))
		return pressure_accesses(argc - 1, argv + 1, name[0] == 'b');
	if (!strcmp(name, "completion"))
		return pfbench_complete(argc - 1, argv + 1);
	if (!strcmp(name, "schema"))
		return pfbench_schema(argc - 1, argv + 1);
	return helper_command.run(argc, argv);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct subcommand *const *command;

	if (program_start())
		return STATUS_FAILED;
	for (command = bench_commands; *command; command++) {
		if (strcmp(word, bench_command_word(*command)))
			continue;
		argv[1] = (*command)->title;
		return (*command)->run(argc - 1, argv + 1);
	}
	if (!strcmp(word, "helper"))
		return pfbench_helper(argc - 1, argv + 1);
	if (!strcmp(word, "--help"))
		return pfbench_usage(stdout, STATUS_OK);
	return pfbench_usage(stderr, STATUS_USAGE);
}
