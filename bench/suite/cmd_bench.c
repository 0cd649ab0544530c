// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive bench: plans the rows, measures them, and prints them next to their predictions. The
 * files that it will write are opened first, because a measurement takes minutes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pfbench.h"
#include "bench/suite/bench_options.h"
#include "bench/suite/bench_plan.h"
#include "bench/suite/derived.h"
#include "bench/suite/fig_memory.h"
#include "bench/suite/ops/peer_server.h"
#include "bench/suite/predict.h"
#include "bench/suite/print/bench_print.h"
#include "bench/suite/suite.h"
#include "bench/suite/witness.h"
#include "figures/figures.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "util/message.h"
#include "util/signals.h"

struct bench_run {
	struct bench_command command;
	struct bench_results results;
	struct predictions predictions;
	struct output *json, *report;
};

static int bench_read_predictions(struct bench_run *run)
{
	const char *path = run->command.predict;
	struct why why;
	FILE *in;
	int err;

	if (!path)
		return STATUS_OK;
	in = fopen(path, "re");
	if (!in)
		return message(STATUS_FAILED, "cannot read %s: %s", path, strerror(errno));
	err = predict_read(&run->predictions, in, &why);
	fclose(in);
	if (err == -ENOMEM)
		return message(STATUS_FAILED, "out of memory");
	return err ? message(STATUS_FAILED, "%s, %s", path, why.text) : STATUS_OK;
}

static int bench_open_file(struct output **output, const char *path)
{
	int err = path ? output_open(output, path) : 0;

	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

/* Opens the output files before minutes are spent on the measurement. */
static int bench_open_files(struct bench_run *run)
{
	int status = bench_open_file(&run->json, run->command.json);

	return status ? status : bench_open_file(&run->report, run->command.report);
}

/* Describes the folders in which the planned rows make files. */
static void bench_read_places(struct bench_results *results)
{
	static const char *const families[] = { "fault.", "scale.", "file." };
	const struct bench_row *row;
	size_t i, j;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (row->operation->over_nfs && !results->nfs.directory)
			bench_folder_read(&results->nfs, results->options.nfs);
		for (j = 0; j < 3 && !results->files.directory; j++)
			if (!strncmp(row->name, families[j], strlen(families[j])))
				bench_folder_read(&results->files, results->options.directory);
	}
}

static int bench_plan_run(struct bench_run *run)
{
	struct bench_results *results = &run->results;
	const char *unknown;
	int err;

	results->options = run->command.options;
	err = bench_machine_read(&results->machine, &results->state, &results->options);
	if (err == -EINVAL)
		return message(
			STATUS_FAILED,
			"cannot run on CPU %d: it is not allowed for this process; name another",
			results->options.cpu);
	if (err)
		return message(STATUS_FAILED, "cannot read the CPU affinity: %s", strerror(-err));
	err = bench_plan_rows(results, run->command.names, run->command.nr_names, &unknown);
	if (err == -ENOENT)
		return message(STATUS_USAGE, "unknown operation '%s'; see pfdrive bench --list",
			       unknown);
	if (err)
		return message(STATUS_FAILED, "out of memory");
	bench_read_places(results);
	return STATUS_OK;
}

/* Reports misspelt names before minutes are spent on the measurement. */
static void warn_of_predictions(const struct bench_run *run)
{
	const struct prediction *prediction;
	size_t next = 0;

	while ((prediction = predict_unmatched(&run->predictions, &run->results, &next)))
		message(STATUS_OK, "%s: there is no operation %s here; the prediction is ignored",
			run->command.predict, prediction->name);
}

static int bench_measure_all(struct bench_run *run)
{
	struct bench_results *results = &run->results;
	int err = suite_measure(results);

	if (!err)
		err = derived_fill(results);
	if (!err && run->command.watch)
		err = witness_watch(results);
	else if (!err)
		why_set(&results->not_watched, "--no-bpf was given");
	if (err == -EINTR)
		return 128 + signals_caught;
	if (err)
		return message(STATUS_FAILED, "cannot measure: %s", strerror(-err));
	predict_rows(results, &run->predictions);
	return STATUS_OK;
}

static int bench_print_to(FILE *out, const struct bench_results *results, enum report_format format)
{
	int err;

	if (format == REPORT_JSON)
		err = bench_json_print(out, results);
	else if (format == REPORT_CSV)
		err = bench_csv_print(out, results);
	else
		err = bench_table_print(out, results);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

typedef int (*printer)(FILE *out, const struct bench_results *results);

static int bench_write_file(struct output **output, const char *path, printer print_one,
			    const struct bench_results *results)
{
	int err;

	if (!*output)
		return STATUS_OK;
	err = print_one(output_stream(*output), results);
	if (!err) {
		err = output_commit(*output);
		*output = NULL;
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int bench_write_figure(const struct bench_run *run)
{
	const struct figures_options options = { .plot = run->command.plot };
	struct drawing drawing;
	int status;

	if (!options.plot)
		return STATUS_OK;
	status = fig_memory_draw(&drawing, &run->results) ?
			 message(STATUS_FAILED, "out of memory") :
			 report_figures_write(&options, &drawing, 1, NULL, NULL);
	if (!status && !drawing_is_drawn(&drawing))
		message(STATUS_OK, "cannot draw the figure: %s", drawing.texts[DRAWING_MISSING]);
	drawing_free(&drawing);
	return status;
}

/* Writes the requested files. */
static int bench_write_files(struct bench_run *run)
{
	const struct bench_command *command = &run->command;
	int status;

	status = bench_write_file(&run->json, command->json, bench_json_print, &run->results);
	if (!status)
		status = bench_write_file(&run->report, command->report, course_report_print,
					  &run->results);
	if (!status)
		status = bench_write_figure(run);
	return status;
}

/* Writes the files even if printing fails, because the measurement took minutes. */
static int bench_print_results(struct bench_run *run)
{
	int err = bench_print_to(stdout, &run->results, run->command.format);
	int printed = err ? message_of_stdout(err, "the results") : STATUS_OK;
	int status = bench_write_files(run);

	return printed ? printed : status;
}

static int bench_list_names(void)
{
	int err = bench_table_print_list(stdout);

	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	return err ? message_of_stdout(err, "the list") : STATUS_OK;
}

static int bench_run_steps(struct bench_run *run)
{
	int status;

	if (run->command.list)
		return bench_list_names();
	if (run->command.serve)
		return peer_server_run(run->command.serve_address, run->command.options.port);
	status = bench_read_predictions(run);
	if (!status)
		status = bench_plan_run(run);
	if (!status)
		status = bench_open_files(run);
	if (!status) {
		warn_of_predictions(run);
		status = bench_measure_all(run);
	}
	if (!status)
		status = bench_print_results(run);
	return status;
}

static int cmd_bench(int argc, char **argv)
{
	struct bench_run run = { 0 };
	int status;

	bench_options_parse(&run.command, argc, argv);
	signals_init();
	status = bench_run_steps(&run);
	output_close(run.json);
	output_close(run.report);
	predict_free(&run.predictions);
	bench_results_free(&run.results);
	free(run.command.names);
	return status;
}

const struct subcommand suite_command = {
	.name = "bench",
	.title = "pfdrive bench",
	.group = COMMAND_STUDY,
	.summary = "measure what system operations cost",
	.run = cmd_bench,
	.argp = &bench_argp,
};
