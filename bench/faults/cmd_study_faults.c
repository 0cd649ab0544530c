// SPDX-License-Identifier: GPL-2.0-only
/* pfbench faults FOLDER: the index page of the experiments that make demo ran. */
#include <errno.h>
#include <string.h>

#include "bench/faults/fault_index.h"
#include "bench/pfbench.h"
#include "util/message.h"

static int cmd_study_faults(int argc, char **argv)
{
	static struct fault_index index;
	const char *failed;
	int err;

	if (argc != 2)
		return message(STATUS_USAGE, "name the folder with the runs of make demo");
	err = fault_index_make(&index, argv[1], &failed);
	if (err)
		return message(STATUS_FAILED, "cannot read the run %s/%s.json: %s; run make demo",
			       argv[1], failed,
			       err == -ENODATA ? "it is not a run with --fault-around off" :
						 strerror(-err));
	err = fault_index_print(stdout, &index);
	return err ? message_of_stdout(err, "the index page") : STATUS_OK;
}

const struct subcommand faults_command = {
	.name = "faults",
	.title = "pfbench faults",
	.group = COMMAND_HIDDEN,
	.summary = "print the index page of the runs of make demo in a folder",
	.run = cmd_study_faults,
};
