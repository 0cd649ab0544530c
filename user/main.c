// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: runs the subcommand that the command line names. */
#include "cmd/cmd.h"
#include "util/message.h"

int main(int argc, char **argv)
{
	return program_start() ? STATUS_FAILED : subcommands_run(argc, argv);
}
