// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive helper NAME: programs that pfdrive, a test or the build starts, and no user. They are
 * processes of their own because they outlive a run, compete with it, or are watched by another
 * program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "collect/bpf_pins.h"
#include "compete/competitor.h"
#include "drive/run_arguments.h"
#include "drive/run_memory.h"
#include "study/faults/fault_index.h"
#include "system/memory_cgroup.h"
#include "util/array.h"
#include "util/message.h"
#include "util/signals.h"

/* Larger than any mapping that is gone when main() begins. */
#define LARGEST_HOLE (1ULL << 30)

/*
 * Returns addresses at which this process mapped nothing before: cachegrind identifies lines by
 * their addresses, and its caches would still hold the earlier ones.
 */
static void *new_addresses(uint64_t bytes)
{
	const uint64_t size = bytes + LARGEST_HOLE;
	void *start =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	munmap(start, size);
	return start;
}

static int loop_run(struct run_memory *memory, const struct options *options, bool bare)
{
	struct pattern_watch watch = { .stop = &signals_caught };
	int err, status = run_memory_open(memory, options);

	if (status)
		return status;
	memory->mapping.at = new_addresses(memory->mapping.bytes);
	err = mapping_map(&memory->mapping);
	if (err)
		return message(STATUS_FAILED, "cannot map %s: %s", memory->name, strerror(-err));
	if (bare)
		memory->pattern.accesses = 0;
	pattern_run(&memory->pattern, memory->mapping.data, &watch);
	return signals_caught ? 128 + signals_caught : STATUS_OK;
}

/*
 * [OPTION...] FILE of run or study pressure: makes only the accesses, for valgrind to watch, or
 * everything except the accesses, for valgrind to subtract.
 */
static int helper_any_loop(int argc, char **argv, bool bare)
{
	static const struct argp_child children[] = {
		{ &pressure_arguments_argp, 0, NULL, 0 },
		{ 0 },
	};
	static const struct argp argp = { .children = children, .args_doc = "[FILE]" };
	struct run_memory memory = RUN_MEMORY_NONE;
	struct options options;
	int status;

	run_arguments_init(&options);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	signals_init();
	status = loop_run(&memory, &options, bare);
	run_memory_close(&memory);
	return status;
}

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
	switch (memory_group_keep(argv[1])) {
	case 0:
		return STATUS_OK;
	case -EINVAL:
		return STATUS_USAGE;
	default:
		return STATUS_FAILED;
	}
}

/* BYTES random|sequential NUMBER PARENT USER */
static int helper_competitor(int argc, char **argv)
{
	struct competitor_plan plan;

	if (argc != 6)
		return STATUS_USAGE;
	plan = (struct competitor_plan){
		.bytes = strtoull(argv[1], NULL, 10),
		.random = !strcmp(argv[2], "random"),
		.number = strtoul(argv[3], NULL, 10),
	};
	return competitor_live(&plan, atoi(argv[4]), argv[5]);
}

/* bash|zsh */
static int helper_completion(int argc, char **argv)
{
	int err;

	if (argc != 2 || !completion_print(stdout, argv[1]))
		return STATUS_USAGE;
	err = fflush(stdout) || ferror(stdout) ? -errno : 0;
	return err ? message_of_stdout(err, "the completion") : STATUS_OK;
}

/* FOLDER with the runs of the demo: prints their index page. */
static int helper_fault_index(int argc, char **argv)
{
	static struct fault_index index;
	const char *failed;
	int err;

	if (argc != 2)
		return STATUS_USAGE;
	err = fault_index_make(&index, argv[1], &failed);
	if (err)
		return message(STATUS_FAILED, "cannot read the run %s/%s.json: %s; run make demo",
			       argv[1], failed,
			       err == -ENODATA ? "it is not a run with --fault-around off" :
						 strerror(-err));
	err = fault_index_print(stdout, &index);
	return err ? message_of_stdout(err, "the index page") : STATUS_OK;
}

/* INODE */
static int helper_unpin(int argc, char **argv)
{
	uint64_t inode;

	if (argc != 2 || sscanf(argv[1], "%" SCNu64, &inode) != 1)
		return STATUS_USAGE;
	return pins_keep(inode) ? STATUS_FAILED : STATUS_OK;
}

static int cmd_helper(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} helpers[] = {
		{ "bare-loop", helper_bare_loop },
		{ "cgroup-reaper", helper_cgroup_reaper },
		{ "competitor", helper_competitor },
		{ "completion", helper_completion },
		{ "fault-index", helper_fault_index },
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
