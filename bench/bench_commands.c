// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "bench/pfbench.h"
#include "cmd/cmd.h"

const struct subcommand *const bench_commands[] = {
	&suite_command, &io_command, &rss_command, &pressure_command, &faults_command, NULL,
};

const char *bench_command_word(const struct subcommand *command)
{
	const char *space = strrchr(command->name, ' ');

	return space ? space + 1 : command->name;
}

size_t bench_commands_all(const struct subcommand *all[BENCH_MAX_COMMANDS])
{
	const struct subcommand *const *command;
	size_t i;

	for (i = 0; i < nr_subcommands && i < BENCH_MAX_COMMANDS; i++) {
		all[i] = subcommands[i];
		for (command = bench_commands; *command; command++)
			if (!strcmp(all[i]->name, (*command)->name))
				all[i] = *command;
	}
	return i;
}
