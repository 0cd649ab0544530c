/* SPDX-License-Identifier: GPL-2.0-only */
/* One of a program's subcommands. command_table.c has their table. */
#ifndef PFSTAT_USER_SUBCOMMAND_H
#define PFSTAT_USER_SUBCOMMAND_H

#include <argp.h>

enum subcommand_group {
	COMMAND_MEASURE,
	COMMAND_EXPLAIN,
	COMMAND_STUDY,
	COMMAND_LOOK,
	COMMAND_HIDDEN, /* not for users: --help does not list it */
	NR_COMMAND_GROUPS
};

struct subcommand {
	const char *name; /* one word, or two: "study io" */
	char *title;	  /* argv[0] for run(): "pfdrive study io" */
	enum subcommand_group group;
	const char *summary;		   /* one line */
	int (*run)(int argc, char **argv); /* returns the exit status */
	const struct argp *argp; /* NULL: it has no options, or another program has them */
};

#endif
