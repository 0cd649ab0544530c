// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the memory, makes the accesses as often as --repeat requests, and prints the reports of
 * all runs together.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/cachegrind_run.h"
#include "drive/drive.h"
#include "drive/run.h"
#include "drive/run_memory.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "system/cpus.h"
#include "util/message.h"
#include "util/signals.h"

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
