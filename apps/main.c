// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: runs the subcommand named on the command line. */
#include "cmd/cmd.h"
#include "util/message.h"

int main(int argc, char **argv)
{
	return program_start() ? STATUS_FAILED : subcommands_run(argc, argv);
}
