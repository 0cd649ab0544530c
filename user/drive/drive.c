// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the memory, makes the accesses as often as --repeat requests, and prints the reports of all
 * runs together. The subcommand is pfdrive run.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drive/drive.h"
#include "drive/run.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "system/cpus.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

/* Opens the file or memory for a run, and refuses a pattern that does not fit into it. */

struct run_memory {
	struct mapping mapping; /* open, not mapped */
	char name[4096];	/* for messages */
	struct pattern pattern;
};

#define RUN_MEMORY_NONE ((struct run_memory){ .mapping = MAPPING_NONE })

static int message_of_pattern(const struct run_memory *memory, const struct options *options,
			      int err)
{
	if (err == -EMSGSIZE)
		return message(STATUS_USAGE,
			       "--pattern: %s needs %" PRIu64 " bytes, %s has %" PRIu64,
			       options->pattern_text, pattern_min_bytes(&memory->pattern),
			       memory->name, memory->mapping.bytes);
	return message(STATUS_USAGE,
		       "--pattern: the stride of %s is longer than %s, %" PRIu64 " bytes",
		       options->pattern_text, memory->name, memory->mapping.bytes);
}

/* The exit status, after a message. */
static int run_memory_open(struct run_memory *memory, const struct options *options)
{
	int status, err;

	memory->pattern = options->pattern;
	if (options->workload.have_share)
		memory->pattern.store_share = options->workload.store_share;
	status = workload_open(&options->workload, options->file,
			       memory->pattern.store_share || options->workload.fill,
			       &memory->mapping, memory->name, sizeof(memory->name));
	if (status)
		return status;
	err = pattern_fit(&memory->pattern, memory->mapping.bytes, options->accesses,
			  options->seed);
	return err ? message_of_pattern(memory, options, err) : STATUS_OK;
}

static void run_memory_close(struct run_memory *memory)
{
	mapping_close(&memory->mapping);
}

/* Makes a run's accesses without a measurement, in a process that valgrind watches. */

/* Larger than any mapping already gone when main() begins. */
#define LARGEST_HOLE (1ULL << 30)

/*
 * Returns addresses where this process has mapped nothing before. Cachegrind identifies lines by
 * their addresses, and the simulated caches would still hold the earlier lines.
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

static int make_accesses(struct run_memory *memory, const struct options *options, bool bare)
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

int drive_accesses(const struct options *options, bool bare)
{
	struct run_memory memory = RUN_MEMORY_NONE;
	int status;

	signals_init();
	status = make_accesses(&memory, options, bare);
	run_memory_close(&memory);
	return status;
}

struct drive {
	const struct drive_plan *plan;
	struct options options;
	struct run_memory memory;
	struct output *json;
	struct cache_simulation simulation;
	struct cpus cpus; /* where pfdrive was allowed to run */
	struct result *results;
	unsigned int nr_results;
};

static int run_open_json(struct drive *drive)
{
	const char *path = drive->options.json;
	int err;

	if (!path)
		return STATUS_OK;
	err = output_open(&drive->json, path);
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int stay_on_cpu(struct drive *drive)
{
	struct cpus one;
	int cpu, err = cpus_read(&drive->cpus);

	if (err)
		return message(STATUS_FAILED, "cannot read the CPU affinity: %s", strerror(-err));
	/* The counters measure one CPU's caches. */
	if (drive->options.cpu < 0 && drive->options.extras.counters)
		drive->options.cpu = sched_getcpu();
	cpu = drive->options.cpu;
	if (cpu < 0)
		return STATUS_OK;
	one = cpus_only(cpu);
	err = cpus_confine(0, &one);
	if (err)
		return message(STATUS_FAILED, "cannot run on CPU %d: %s; name an online CPU", cpu,
			       strerror(-err));
	return STATUS_OK;
}

/* Once for all runs, because the simulation counts the same in each. */
static int run_simulation(struct drive *drive, char *const *arguments)
{
	if (!drive->options.extras.simulate)
		return STATUS_OK;
	return cachegrind_run(&drive->simulation, arguments);
}

static int drive_make(const struct drive_plan *plan, struct run_plan *run, struct result *result)
{
	return plan->make ? plan->make(run, result, plan->context) : run_once(run, result);
}

static int run_all(struct drive *drive)
{
	struct run_plan plan = {
		.options = &drive->options,
		.pattern = &drive->memory.pattern,
		.mapping = &drive->memory.mapping,
		.name = drive->memory.name,
		.cpus = &drive->cpus,
	};
	int status = STATUS_OK;

	drive->results = calloc(drive->options.repeats, sizeof(*drive->results));
	if (!drive->results)
		return message(STATUS_FAILED, "out of memory");
	while (!status && drive->nr_results < drive->options.repeats) {
		plan.number = drive->nr_results + 1;
		plan.last = plan.number == drive->options.repeats && !drive->plan->make;
		status = drive_make(drive->plan, &plan, &drive->results[drive->nr_results++]);
	}
	return status;
}

static int run_print_to(FILE *out, enum report_format format, const struct drive *drive)
{
	const bool simulated = drive->options.extras.simulate;
	struct report *reports = calloc(drive->nr_results, sizeof(*reports));
	unsigned int i;
	int err;

	if (!reports)
		return -ENOMEM;
	for (i = 0; i < drive->nr_results; i++) {
		reports[i] = drive->results[i].report;
		reports[i].cost.subtract = drive->options.subtract;
		reports[i].full = drive->options.full;
		reports[i].extras.simulation = simulated ? &drive->simulation : NULL;
	}
	err = print_report(out, format, reports, drive->nr_results);
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
	return err ? message(STATUS_FAILED, "cannot write %s: %s", drive->options.json,
			     invoker_strerror(err)) :
		     STATUS_OK;
}

static int run_print_results(struct drive *drive)
{
	int err = run_print_to(stdout, drive->options.format, drive);
	int status = run_write_json(drive);

	return err ? message_of_stdout(err, "the results") : status;
}

static int check_accounts(const struct drive *drive)
{
	int status = STATUS_OK, one;
	unsigned int i;

	for (i = 0; i < drive->nr_results; i++) {
		one = result_check(&drive->results[i], i + 1) ?: result_status(&drive->results[i]);
		status = status ? status : one;
	}
	return status;
}

static int drive_steps(struct drive *drive, char *const *arguments)
{
	int status, accounts;

	status = run_memory_open(&drive->memory, &drive->options);
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
	/* Checked after printing, so the JSON has the numbers. */
	accounts = check_accounts(drive);
	return status ? status : accounts;
}

int drive_main(const struct drive_plan *plan)
{
	struct drive drive = {
		.plan = plan,
		.options = *plan->options,
		.memory = RUN_MEMORY_NONE,
	};
	unsigned int i;
	int status;

	signals_init();
	status = drive_steps(&drive, plan->arguments);
	for (i = 0; i < drive.nr_results; i++)
		result_free(&drive.results[i]);
	free(drive.results);
	cachegrind_run_exit(&drive.simulation);
	output_close(drive.json);
	run_memory_close(&drive.memory);
	return status;
}

/* pfdrive run: parses the arguments. */

static const struct argp_child run_children[] = { { &run_arguments_argp, 0, NULL, 0 }, { 0 } };

static const struct argp run_argp = {
	.children = run_children,
	.args_doc = "[FILE]",
	.doc = "Maps FILE or memory, touches the bytes in a pattern's order, and prints the "
	       "page fault cost by class.\vNumbers take the suffixes K, M and G (1024). "
	       "FILE is only read unless --allow-write is given. An ordinary user measures "
	       "with perf; the pfstat module and eBPF, which show more about a fault, require "
	       "root.",
};

static int cmd_run(int argc, char **argv)
{
	struct options options;

	run_arguments_init(&options);
	argp_parse(&run_argp, argc, argv, 0, NULL, &options);
	return drive_main(&(struct drive_plan){ .options = &options, .arguments = argv + 1 });
}

const struct subcommand run_command = {
	.name = "run",
	.title = "pfdrive run",
	.group = COMMAND_MEASURE,
	.summary = "touch a file or memory, and measure the page faults",
	.run = cmd_run,
	.argp = &run_argp,
};
