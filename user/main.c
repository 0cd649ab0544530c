// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: a subcommand by its name; anything else is a FILE to drive. */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

#include "cmd_bench.h"
#include "cmd_compare.h"
#include "cmd_drive.h"
#include "cmd_record.h"
#include "cmd_replay.h"
#include "cmd_report.h"
#include "cmd_top.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "bench", cmd_bench },
	{ "compare", cmd_compare },
	{ "drive", cmd_drive },
	{ "record", cmd_record },
	{ "replay", cmd_replay },
	{ "report", cmd_report },
	{ "top", cmd_top },
};

int main(int argc, char **argv)
{
	size_t i;

	/* µ for people, also where LANG says nothing; numbers stay as programs read them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		/* The option parser's sentences begin with it, like all others. */
		argv[1] = program_invocation_short_name;
		return commands[i].run(argc - 1, argv + 1);
	}
	argv[0] = program_invocation_short_name;
	return cmd_drive(argc, argv);
}
