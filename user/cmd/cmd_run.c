// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmd/cmd.h"
#include "cmd/run_arguments.h"
#include "privilege/invoker.h"
#include "privilege/output_file.h"
#include "run/cachegrind_run.h"
#include "run/run.h"
#include "run/run_contest.h"
#include "system/cpus.h"
#include "util/message.h"
#include "util/signals.h"

/* More than any mapping that has come and gone when the program begins. */
#define LARGEST_HOLE (1ULL << 30)

struct drive {
	struct options options;
	struct mapping mapping;
	char name[4096];	/* of what is mapped, in sentences */
	struct pattern pattern;
	struct output *json;
	struct cache_simulation simulation;
	struct cpus cpus;	/* where pfdrive was allowed to run */
	struct result *results;
	unsigned int nr_results;
};

static int complain_of_pattern(const struct drive *drive, int err)
{
	const struct options *options = &drive->options;

	if (err == -EMSGSIZE)
		return complain(STATUS_USAGE, "--pattern: %s needs %" PRIu64 " bytes, %s has %"
				PRIu64, options->pattern_text, drive->pattern.engine->min_bytes,
				drive->name, drive->mapping.bytes);
	return complain(STATUS_USAGE, "--pattern: the stride of %s is longer than %s, %" PRIu64
			" bytes", options->pattern_text, drive->name, drive->mapping.bytes);
}

static int open_memory(struct drive *drive)
{
	const struct options *options = &drive->options;
	int status, err;

	drive->pattern = options->pattern;
	if (options->workload.have_share)
		drive->pattern.store_share = options->workload.store_share;
	status = workload_open(&options->workload, options->file,
			       drive->pattern.store_share || options->workload.fill,
			       &drive->mapping, drive->name, sizeof(drive->name));
	if (status)
		return status;
	err = pattern_fit(&drive->pattern, drive->mapping.bytes, options->accesses, options->seed);
	return err ? complain_of_pattern(drive, err) : STATUS_OK;
}

static int run_open_json(struct drive *drive)
{
	const char *path = drive->options.json;
	int err;

	if (!path)
		return STATUS_OK;
	err = output_open(&drive->json, path);
	return err ? complain(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int stay_on_cpu(struct drive *drive)
{
	struct cpus one;
	int cpu, err = cpus_read(&drive->cpus);

	if (err)
		return complain(STATUS_FAILED, "cannot read the CPU affinity: %s", strerror(-err));
	/* A CPU's caches are its own. */
	if (drive->options.cpu < 0 && drive->options.measure.counters)
		drive->options.cpu = sched_getcpu();
	cpu = drive->options.cpu;
	if (cpu < 0)
		return STATUS_OK;
	one = cpus_only(cpu);
	err = cpus_confine(0, &one);
	if (err)
		return complain(STATUS_FAILED, "cannot run on CPU %d: %s: name one that is online",
				cpu, strerror(-err));
	return STATUS_OK;
}

/* Once for all runs: it counts, and does not measure. */
static int run_simulation(struct drive *drive, char *const *arguments)
{
	if (!drive->options.measure.simulate)
		return STATUS_OK;
	return simulate_caches(&drive->simulation, arguments);
}

static int run_all(struct drive *drive)
{
	struct run_plan plan = {
		.options = &drive->options,
		.pattern = &drive->pattern,
		.mapping = &drive->mapping,
		.name = drive->name,
		.cpus = &drive->cpus,
	};
	int status = STATUS_OK;

	drive->results = calloc(drive->options.repeats, sizeof(*drive->results));
	if (!drive->results)
		return complain(STATUS_FAILED, "out of memory");
	while (!status && drive->nr_results < drive->options.repeats) {
		plan.number = drive->nr_results + 1;
		status = run_contest(&plan, &drive->results[drive->nr_results++]);
	}
	return status;
}

static int run_print_to(FILE *out, enum report_format format, const struct drive *drive)
{
	const bool simulated = drive->options.measure.simulate;
	struct report *reports = calloc(drive->nr_results, sizeof(*reports));
	unsigned int i;
	int err;

	if (!reports)
		return -ENOMEM;
	for (i = 0; i < drive->nr_results; i++) {
		reports[i] = drive->results[i].report;
		reports[i].subtract = drive->options.subtract;
		reports[i].measures.simulation = simulated ? &drive->simulation : NULL;
	}
	err = report_print(out, format, reports, drive->nr_results);
	free(reports);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

static int run_write_json(struct drive *drive)
{
	int err;

	if (!drive->json)
		return STATUS_OK;
	err = run_print_to(output_stream(drive->json), REPORT_JSON, drive);
	if (!err) {
		err = output_commit(drive->json);
		drive->json = NULL;
	}
	return err ? complain(STATUS_FAILED, "cannot write %s: %s", drive->options.json,
			      invoker_strerror(err)) : STATUS_OK;
}

static int run_print_results(struct drive *drive)
{
	int err = run_print_to(stdout, drive->options.format, drive);
	int status = run_write_json(drive);

	return err ? complain_of_stdout(err, "the results") : status;
}

static int check_accounts(const struct drive *drive)
{
	int status = STATUS_OK, one;
	unsigned int i;

	for (i = 0; i < drive->nr_results; i++) {
		one = result_check(&drive->results[i], i + 1);
		status = status ? status : one;
	}
	return status;
}

static int drive_steps(struct drive *drive, char *const *arguments)
{
	int status, accounts;

	status = open_memory(drive);
	if (!status)
		status = run_open_json(drive);
	if (!status)
		status = run_simulation(drive, arguments);
	if (!status)
		status = stay_on_cpu(drive);
	if (!status)
		status = run_all(drive);
	if (status)
		return status;
	status = run_print_results(drive);
	/* Also for who reads the JSON alone. */
	accounts = check_accounts(drive);
	return status ? status : accounts;
}

/* simulation_arguments: those that the loop below valgrind gets, without argv[0]. */
static int run_command(struct drive *drive, char *const *simulation_arguments)
{
	unsigned int i;
	int status;

	interrupt_init();
	status = drive_steps(drive, simulation_arguments);
	for (i = 0; i < drive->nr_results; i++)
		result_free(&drive->results[i]);
	free(drive->results);
	simulate_exit(&drive->simulation);
	output_close(drive->json);
	mapping_close(&drive->mapping);
	return status;
}

static const struct argp_child run_children[] = { { &run_arguments_argp, 0, NULL, 0 }, { 0 } };

int cmd_run(int argc, char **argv)
{
	static const struct argp argp = {
		.children = run_children, .args_doc = "[FILE]",
		.doc = "Maps FILE, or memory, touches its bytes in the order of a pattern, and "
		       "prints what the page faults cost, by class.\vNumbers take K, M, G (1024). "
		       "FILE is only read unless --allow-write is given. Needs the pfstat module, "
		       "and root.",
	};
	struct drive drive = { .mapping = MAPPING_NONE };

	run_arguments_init(&drive.options);
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &drive.options);
	return run_command(&drive, argv + 1);
}

static error_t pressure_parse_option(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		state->child_inputs[1] = &options->compete;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child pressure_children[] = {
	{ &run_arguments_argp, 0, NULL, 0 }, { &compete_argp, 0, NULL, 0 }, { 0 },
};

int cmd_study_pressure(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = pressure_parse_option, .children = pressure_children,
		.args_doc = "[FILE]",
		.doc = "Makes each run twice, alone and beside processes that compete for memory, "
		       "and prints what they do to its page faults.\vNumbers take K, M, G (1024). "
		       "FILE is only read unless --allow-write is given. Needs the pfstat module, "
		       "root, and swap for what exceeds the limit.",
	};
	struct drive drive = { .mapping = MAPPING_NONE };

	run_arguments_init(&drive.options);
	compete_parse(COMPETE_DEFAULT, &drive.options.compete);
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &drive.options);
	return run_command(&drive, argv + 1);
}

/*
 * Addresses at which this process had nothing before: cachegrind knows lines by their
 * addresses, and what was read there would still be in its caches.
 */
static void *new_addresses(uint64_t bytes)
{
	const uint64_t room = bytes + LARGEST_HOLE;
	void *start = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	munmap(start, room);
	return start;
}

/* The accesses alone, for another program to watch. */
static int loop(struct drive *drive, bool bare)
{
	struct pattern_watch watch = { .stop = &interrupt_signal };
	int err, status;

	status = open_memory(drive);
	if (status)
		return status;
	drive->mapping.at = new_addresses(drive->mapping.bytes);
	err = mapping_map(&drive->mapping);
	if (err)
		return complain(STATUS_FAILED, "cannot map %s: %s", drive->name,
				strerror(-err));
	if (bare)
		drive->pattern.accesses = 0;
	pattern_run(&drive->pattern, drive->mapping.data, &watch);
	return interrupt_signal ? 128 + interrupt_signal : STATUS_OK;
}

static int run_loop(int argc, char **argv, bool bare)
{
	static const struct argp argp = {
		.parser = pressure_parse_option, .children = pressure_children,
		.args_doc = "[FILE]", .doc = "Makes the accesses of `pfdrive run', and measures "
					     "nothing.",
	};
	struct drive drive = { .mapping = MAPPING_NONE };
	int status;

	run_arguments_init(&drive.options);
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &drive.options);
	interrupt_init();
	status = loop(&drive, bare);
	mapping_close(&drive.mapping);
	return status;
}

int cmd_loop(int argc, char **argv)
{
	return run_loop(argc, argv, false);
}

int cmd_bare_loop(int argc, char **argv)
{
	return run_loop(argc, argv, true);
}
