// SPDX-License-Identifier: GPL-2.0-only
/*
 * The subcommand table, and how the first words on a command line choose a subcommand. A word in
 * the table always means the command: a file with this name is given as ./NAME. A word that is
 * neither a command nor a file is an error, which names the nearest command.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "advise/advise.h"
#include "cmd/cmd.h"
#include "compare/compare.h"
#include "doctor/doctor.h"
#include "drive/run.h"
#include "limits/limits.h"
#include "live/live.h"
#include "prefetch/prefetch.h"
#include "util/array.h"
#include "util/message.h"
#include "workload/pattern.h"

#define STUDY	     "study"
#define LONGEST_WORD 32

const struct subcommand *const subcommands[] = {
	&run_command,
	&record_command,
	&top_command,
	&check_command,
	&export_command,
	&replay_command,
	&advise_command,
	&prefetch_command,
	&report_command,
	&compare_command,
	&study_io_command,
	&study_rss_command,
	&study_pressure_command,
	&bench_command,
	&maps_command,
	&doctor_command,
	&help_command,
	&helper_command,
};

const size_t nr_subcommands = ARRAY_SIZE(subcommands);

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

int subcommand_unknown(const char *word, bool or_file)
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

const struct subcommand *subcommand_find(int argc, char *const *argv, int *words)
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

int subcommand_print_list(void)
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
