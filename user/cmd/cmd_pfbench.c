// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive bench and pfdrive study start pfbench, the measurement program for the studies, which is
 * in the same folder.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "util/message.h"

/* Replaces "pfdrive", or another name, at the end of this program's path. */
static int pfbench_path(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof("/pfbench"));
	char *name;

	if (length < 0)
		return -errno;
	path[length] = '\0';
	name = strrchr(path, '/');
	strcpy(name ? name : path, "/pfbench");
	return 0;
}

bool pfbench_is_there(void)
{
	char path[PATH_MAX];

	return !pfbench_path(path) && !access(path, X_OK);
}

/* argv[0] is the command's title, whose last word pfbench knows. */
static int pfbench_run(int argc, char **argv)
{
	char path[PATH_MAX] = "pfbench", **arguments = calloc(argc + 2, sizeof(*arguments));
	int err;

	if (!arguments)
		return message(STATUS_FAILED, "out of memory");
	arguments[0] = "pfbench";
	arguments[1] = strrchr(argv[0], ' ') + 1;
	memcpy(arguments + 2, argv + 1, (argc - 1) * sizeof(*arguments));
	err = pfbench_path(path);
	if (!err) {
		execv(path, arguments);
		err = -errno;
	}
	free(arguments);
	return message(STATUS_FAILED,
		       "cannot start %s, which makes this measurement: %s; the wheel for Python "
		       "does not have it, install pfstat from its source or another package",
		       path, strerror(-err));
}

const struct subcommand bench_command = {
	.name = "bench",
	.title = "pfdrive bench",
	.group = COMMAND_STUDY,
	.summary = "measure what system operations cost",
	.run = pfbench_run,
};

const struct subcommand study_io_command = {
	.name = "study io",
	.title = "pfdrive study io",
	.group = COMMAND_STUDY,
	.summary = "compare mmap(2) with read(2) and write(2)",
	.run = pfbench_run,
};

const struct subcommand study_rss_command = {
	.name = "study rss",
	.title = "pfdrive study rss",
	.group = COMMAND_STUDY,
	.summary = "show how touching a file grows a process",
	.run = pfbench_run,
};

const struct subcommand study_pressure_command = {
	.name = "study pressure",
	.title = "pfdrive study pressure",
	.group = COMMAND_STUDY,
	.summary = "run beside processes that compete for memory",
	.run = pfbench_run,
};
