// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the first words on a command line choose a subcommand from the table. A word in the table
 * always means the command: a file with this name is given as ./NAME. A word that is neither a
 * command nor a file is an error, which names the nearest command.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "drive/run.h"
#include "privilege/invoker.h"
#include "util/array.h"
#include "util/message.h"
#include "workload/pattern.h"

#define STUDY	     "study"
#define LONGEST_WORD 32

/* Other words for a command: the former name, or only the second word. */
static const struct {
	const char *word, *command;
} aliases[] = {
	{ "drive", "run" },	{ "io", "study io" },	 { "pressure", "study pressure" },
	{ "rss", "study rss" }, { "show-maps", "maps" }, { "touch", "study rss" },
	{ "via", "study io" },
};

static unsigned int min_distance(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours to turn a into b. */
static unsigned int word_distance(const char *a, const char *b)
{
	const size_t length_a = strlen(a), length_b = strlen(b);
	unsigned int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
	size_t i, j;

	if (length_a > LONGEST_WORD || length_b > LONGEST_WORD)
		return LONGEST_WORD;
	for (i = 0; i <= length_a; i++)
		d[i][0] = i;
	for (j = 0; j <= length_b; j++)
		d[0][j] = j;
	for (i = 1; i <= length_a; i++)
		for (j = 1; j <= length_b; j++) {
			d[i][j] = min_distance(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
					       min_distance(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min_distance(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[length_a][length_b];
}

/* NULL: no command resembles the word. At most a third of the letters may be wrong. */
static const char *nearest_command(const char *word)
{
	unsigned int best = strlen(word) / 3 + 1, distance;
	const char *nearest = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(word, aliases[i].word))
			return aliases[i].command;
	for (i = 0; i < nr_subcommands; i++) {
		distance = word_distance(word, subcommands[i]->name);
		if (subcommands[i]->group == COMMAND_HIDDEN || distance >= best)
			continue;
		best = distance;
		nearest = subcommands[i]->name;
	}
	return nearest;
}

/* Reports a word that is not a command or, with @or_file, a file, and names the nearest command. */
static int subcommand_unknown(const char *word, bool or_file)
{
	const char *nearest = nearest_command(word);
	struct pattern pattern;

	if (or_file && !pattern_parse(&pattern, word))
		return message(STATUS_USAGE, "'%s' is a pattern; use --pattern %s", word, word);
	if (nearest)
		return message(STATUS_USAGE, "unknown command '%s'; did you mean '%s'?%s", word,
			       nearest, or_file ? " No file has that name either" : "");
	return message(STATUS_USAGE,
		       or_file ? "'%s' is neither a command nor a file; see pfdrive --help" :
				 "unknown command '%s'; see pfdrive --help",
		       word);
}

static int message_of_study(const char *word)
{
	const size_t length = strlen(STUDY " ");
	char names[128] = "";
	size_t i;

	for (i = 0; i < nr_subcommands; i++) {
		if (strncmp(subcommands[i]->name, STUDY " ", length))
			continue;
		if (names[0])
			strcat(names, ", ");
		strcat(names, subcommands[i]->name + length);
	}
	if (!word)
		return message(STATUS_USAGE, "no study was given; choose from %s", names);
	return message(STATUS_USAGE, "unknown study '%s'; choose from %s", word, names);
}

/* second: NULL if there is none. */
static bool names_command(const char *name, const char *first, const char *second, int *words)
{
	const char *space = strchr(name, ' ');

	*words = space ? 2 : 1;
	if (!space)
		return !strcmp(name, first);
	return second && !strncmp(name, first, space - name) && !first[space - name] &&
	       !strcmp(space + 1, second);
}

/* The command at the start of argv. *words is the number of words in it. NULL: none. */
static const struct subcommand *subcommand_find(int argc, char *const *argv, int *words)
{
	size_t i;

	for (i = 0; argc && i < nr_subcommands; i++)
		if (names_command(subcommands[i]->name, argv[0], argc > 1 ? argv[1] : NULL, words))
			return subcommands[i];
	return NULL;
}

static void subcommand_list(FILE *out)
{
	static const char *const titles[NR_COMMAND_GROUPS] = {
		[COMMAND_MEASURE] = "Measure",
		[COMMAND_EXPLAIN] = "Explain",
		[COMMAND_STUDY] = "Studies",
		[COMMAND_LOOK] = "Look",
	};
	enum subcommand_group group;
	size_t i;

	fputs("Usage: pfdrive COMMAND [OPTION...] [ARGUMENT...]\n"
	      "  or:  pfdrive [OPTION...] FILE        the same as pfdrive run\n",
	      out);
	for (group = 0; group < COMMAND_HIDDEN; group++) {
		if (group == COMMAND_STUDY && !pfbench_is_there())
			continue;
		fprintf(out, "\n%s:\n", titles[group]);
		for (i = 0; i < nr_subcommands; i++)
			if (subcommands[i]->group == group)
				fprintf(out, "  %-15s %s\n", subcommands[i]->name,
					subcommands[i]->summary);
	}
	fputs("\npfdrive COMMAND --help lists the command's options. A FILE that is named like "
	      "a\ncommand is given as ./FILE.\n",
	      out);
}

/* A path, or a name in the current folder: also if it leads nowhere, or cannot be looked up. */
static bool may_be_file(const char *word)
{
	struct stat status;

	return strchr(word, '/') || !lstat(word, &status) || errno != ENOENT;
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-?");
}

/* Prints all of them in groups. Returns the exit status, as the next one does. */
static int subcommand_print_list(void)
{
	subcommand_list(stdout);
	return fflush(stdout) || ferror(stdout) ? message_of_stdout(-errno, "the command list") :
						  STATUS_OK;
}

int subcommands_run(int argc, char **argv)
{
	const struct subcommand *command;
	int words;

	if (argc < 2) {
		subcommand_list(stderr);
		return STATUS_USAGE;
	}
	command = subcommand_find(argc - 1, argv + 1, &words);
	if (command) {
		argv[words] = command->title;
		return command->run(argc - words, argv + words);
	}
	if (asks_for_help(argv[1]))
		return subcommand_print_list();
	if (!strcmp(argv[1], STUDY))
		return argc > 2 && asks_for_help(argv[2]) ? subcommand_print_list() :
							    message_of_study(argv[2]);
	if (argv[1][0] != '-' && !may_be_file(argv[1]))
		return subcommand_unknown(argv[1], true);
	argv[0] = "pfdrive";
	return run_command.run(argc, argv);
}

/*
 * pfdrive help [COMMAND]: shows a command's manual page if man(1) has it, or else its options.
 * Without a command, it shows the list of commands.
 */

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

/* What pfdrive and pfbench set up before they run a subcommand. */

static int find_invoker(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int err = invoker_init(uid, gid);

	if (err == -EINVAL)
		return message(STATUS_FAILED,
			       "SUDO_UID '%s' and SUDO_GID '%s' are not a user's numbers; unset "
			       "them, or use sudo",
			       uid, gid ?: "");
	return err ? message(STATUS_FAILED, "cannot find the user that called sudo: %s",
			     strerror(-err)) :
		     STATUS_OK;
}

int program_start(void)
{
	/* UTF-8 for people (µs), even if LANG is not set. Numbers stay as programs read them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	argp_err_exit_status = STATUS_USAGE;
	return find_invoker();
}
