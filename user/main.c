// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: one subcommand so far, which needs no name. */
#include <errno.h>

#include "cmd_drive.h"

int main(int argc, char **argv)
{
	/* The option parser's sentences begin with it, like all others. */
	argv[0] = program_invocation_short_name;
	return cmd_drive(argc, argv);
}
