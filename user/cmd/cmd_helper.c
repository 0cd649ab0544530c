// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive helper NAME: programs that pfdrive, a test or the build starts, but users do not. They
 * are separate processes because they outlive a run, compete with it, or are watched by another
 * program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "collect/bpf_pins.h"
#include "drive/drive.h"
#include "drive/run.h"
#include "system/cgroups.h"
#include "util/array.h"
#include "util/message.h"

static int helper_any_loop(int argc, char **argv, bool bare)
{
	static const struct argp_child children[] = { { &run_arguments_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { .children = children, .args_doc = "[FILE]" };
	struct options options;

	run_arguments_init(&options);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return drive_accesses(&options, bare);
}

/* run's [OPTION...] FILE: see drive_accesses(). */
static int helper_loop(int argc, char **argv)
{
	return helper_any_loop(argc, argv, false);
}

static int helper_bare_loop(int argc, char **argv)
{
	return helper_any_loop(argc, argv, true);
}

/* PATH */
static int helper_cgroup_reaper(int argc, char **argv)
{
	if (argc != 2)
		return STATUS_USAGE;
	switch (memory_cgroup_keep(argv[1])) {
	case 0:
		return STATUS_OK;
	case -EINVAL:
		return STATUS_USAGE;
	default:
		return STATUS_FAILED;
	}
}

/* INODE */
static int helper_unpin(int argc, char **argv)
{
	uint64_t inode;

	if (argc != 2 || sscanf(argv[1], "%" SCNu64, &inode) != 1)
		return STATUS_USAGE;
	return bpf_pins_keep(inode) ? STATUS_FAILED : STATUS_OK;
}

static int cmd_helper(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} helpers[] = {
		{ "bare-loop", helper_bare_loop },
		{ "cgroup-reaper", helper_cgroup_reaper },
		{ "loop", helper_loop },
		{ "unpin", helper_unpin },
	};
	size_t i;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(helpers); i++) {
		if (strcmp(argv[1], helpers[i].name))
			continue;
		argv[1] = argv[0];
		return helpers[i].run(argc - 1, argv + 1);
	}
	return message(STATUS_USAGE, "pfdrive helper is not for users; see pfdrive --help");
}

const struct subcommand helper_command = {
	.name = "helper",
	.title = "pfdrive helper",
	.group = COMMAND_HIDDEN,
	.summary = "",
	.run = cmd_helper,
};
