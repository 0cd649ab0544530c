// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive help [COMMAND]: shows a command's manual page if man(1) has it, or else its options.
 * Without a command, it shows the list of commands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "privilege/invoker.h"
#include "util/message.h"

/* In the child: runs man as the user who called sudo. */
static _Noreturn void become_man(const char *page, bool find)
{
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (invoker_become() || nothing < 0)
		_exit(127);
	if (find && (dup2(nothing, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0))
		_exit(127);
	if (find)
		execlp("man", "man", "-w", "1", page, NULL);
	else
		execlp("man", "man", "1", page, NULL);
	_exit(127);
}

/* find: only look for the page. Returns whether man succeeds. */
static bool run_man(const char *page, bool find)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		become_man(page, find);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return child > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static int help_for(const struct subcommand *command)
{
	char *arguments[3] = { command->title, "--help", NULL };
	char page[64], *space;

	snprintf(page, sizeof(page), "pfdrive-%s", command->name);
	while ((space = strchr(page, ' ')))
		*space = '-';
	if (run_man(page, true) && run_man(page, false))
		return STATUS_OK;
	return command->run(2, arguments);
}

static int cmd_help(int argc, char **argv)
{
	const struct subcommand *command;
	int words;

	if (argc < 2)
		return subcommand_print_list();
	command = subcommand_find(argc - 1, argv + 1, &words);
	if (!command && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "study")))
		return subcommand_print_list();
	if (!command)
		return subcommand_unknown(argv[1], false);
	return command->argp || command->group == COMMAND_STUDY ? help_for(command) :
								  subcommand_print_list();
}

const struct subcommand help_command = {
	.name = "help",
	.title = "pfdrive help",
	.group = COMMAND_LOOK,
	.summary = "show a command's manual",
	.run = cmd_help,
};
