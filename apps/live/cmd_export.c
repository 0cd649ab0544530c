// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive export: watches a program as record does, and replaces a file with the program's counters
 * at intervals. Each file is complete when it gets its name. Memory is bounded as in top.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/live.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "privilege/output.h"
#include "report/view.h"
#include "run/watch_options.h"
#include "system/processes.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"

#define CGROUP_ROOT  "/sys/fs/cgroup"
#define METRICS_MODE 0644 /* the collector runs as another user, and there are no file names */

struct exporter {
	struct watch_options watch_options;
	const char *path;
	unsigned int interval_ms;
	const char *label, *value; /* what is watched */
	char pid[16];
	struct watch *watch;
	struct result result;
	struct live *live;
	bool by_cgroup;
	struct cgroup_analyses cgroups; /* by_cgroup: instead of the result's analysis */
	int err;			/* for the last file: no more are written */
};

enum key { KEY_OPENMETRICS = 3000, KEY_BY_CGROUP, KEY_INTERVAL = 'i' };

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "openmetrics", KEY_OPENMETRICS, "FILE", 0,
	  "replace this file with the counters, as OpenMetrics text", 3 },
	{ "by-cgroup", KEY_BY_CGROUP, NULL, 0,
	  "with --cgroup, separate counters for each cgroup below PATH", 3 },
	{ "interval", KEY_INTERVAL, "S", 0, "seconds between two files (default 10)", 3 },
	{ 0 },
};

/* A cgroup is named as in /proc/PID/cgroup. */
static const char *cgroup_name(const char *path)
{
	const size_t length = strlen(CGROUP_ROOT);

	return !strncmp(path, CGROUP_ROOT "/", length + 1) ? path + length : path;
}

static void export_name_target(struct exporter *exporter)
{
	const struct watch_options *options = &exporter->watch_options;

	if (options->command) {
		exporter->label = "command";
		exporter->value = options->command[0];
	} else if (options->pid) {
		snprintf(exporter->pid, sizeof(exporter->pid), "%d", options->pid);
		exporter->label = "pid";
		exporter->value = exporter->pid;
	} else if (options->cgroup) {
		exporter->label = "cgroup";
		exporter->value = cgroup_name(options->cgroup);
	} else {
		exporter->label = "file";
		exporter->value = options->file;
	}
}

static error_t export_parse_option(int key, char *text, struct argp_state *state)
{
	struct exporter *exporter = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &exporter->watch_options;
		return 0;
	case KEY_OPENMETRICS:
		exporter->path = text;
		return 0;
	case KEY_BY_CGROUP:
		exporter->by_cgroup = true;
		return 0;
	case KEY_INTERVAL:
		exporter->interval_ms = 1000 * argument_decimal(state, "interval", text,
								"a number of seconds", 0.1, 3600);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!exporter->path)
			usage(state, "no file was given; use --openmetrics FILE");
		if (exporter->by_cgroup && !exporter->watch_options.cgroup)
			usage(state, "--by-cgroup requires --cgroup PATH");
		named_files_output(state, "--openmetrics", exporter->path);
		export_name_target(exporter);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child export_children[] = { { &watch_argp, 0, NULL, 0 }, { 0 } };

static const struct argp export_argp = {
	.options = argp_options,
	.parser = export_parse_option,
	.children = export_children,
	.args_doc = "--openmetrics FILE [--] COMMAND [ARGUMENT...]\n--openmetrics FILE -p PID\n"
		    "--openmetrics FILE --cgroup PATH\n--openmetrics FILE --file PATH",
	.doc = "Writes a program's page fault counters at intervals, for monitoring.\v"
	       "FILE is for the Prometheus node exporter's textfile collector, in whose folder "
	       "the name must end with .prom. It is replaced at once, so a reader never sees part "
	       "of it. Ctrl-C stops pfdrive. An ordinary user can watch their own processes; the "
	       "pfstat module and eBPF, which show more about a fault, require root.",
};

/* The faults in a cgroup, or in everything watched. */
struct export_row {
	struct report report;
	struct run_counters counters;
};

static void export_free_rows(struct export_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		report_exit(&rows[i].report);
		run_counters_exit(&rows[i].counters);
	}
	free(rows);
}

static int export_print_rows(const struct exporter *exporter, const struct export_row *rows,
			     size_t nr, FILE *out)
{
	struct openmetrics_row *printed = calloc(nr + 1, sizeof(*printed));
	struct openmetrics metrics = {
		.label = exporter->label,
		.value = exporter->value,
		.rows = printed,
		.nr_rows = nr,
		.watched_ns = exporter->live->now_ns - exporter->live->start_ns,
		.lost_records = exporter->live->counters.lost_records,
		.lost_events = exporter->live->counters.lost_events,
	};
	struct rusage usage;
	size_t i;
	int err;

	if (!printed)
		return -ENOMEM;
	getrusage(RUSAGE_SELF, &usage);
	metrics.own_cpu_ns = clock_timeval_ns(usage.ru_utime) + clock_timeval_ns(usage.ru_stime);
	metrics.own_peak_bytes = usage.ru_maxrss * 1024ULL;
	for (i = 0; i < nr; i++)
		printed[i] = (struct openmetrics_row){
			.value = exporter->by_cgroup ? exporter->cgroups.list[i].name :
						       exporter->value,
			.report = &rows[i].report,
		};
	err = openmetrics_print(out, &metrics);
	free(printed);
	return err;
}

static int export_print(const struct exporter *exporter, FILE *out)
{
	const struct cgroup_analyses *cgroups = &exporter->cgroups;
	const size_t nr = exporter->by_cgroup ? cgroups->nr : 1;
	struct export_row *rows = calloc(nr + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < nr && !err; i++) {
		report_init(&rows[i].report);
		run_counters_init(&rows[i].counters);
		err = live_report(&rows[i].report, &rows[i].counters, exporter->live,
				  exporter->by_cgroup ? cgroups->list[i].analysis :
							exporter->result.analysis,
				  exporter->result.report.bpf.known);
	}
	if (!err)
		err = export_print_rows(exporter, rows, nr, out);
	export_free_rows(rows, i);
	return err;
}

static int export_write(const struct exporter *exporter)
{
	struct output *output;
	int err;

	err = output_open(&output, exporter->path);
	if (err)
		return err;
	if (!output_keeps_mode(output))
		fchmod(fileno(output_stream(output)), METRICS_MODE);
	err = export_print(exporter, output_stream(output));
	if (!err)
		return output_commit(output);
	output_close(output);
	return err;
}

static int export_take(struct exporter *exporter, const struct live_counters *counters)
{
	const struct live_snapshot without_faults = { .counters = *counters };
	const uint64_t now = clock_monotonic_ns();

	if (!exporter->by_cgroup)
		return live_update(exporter->live, exporter->result.analysis, counters, now);
	return cgroup_analyses_update(&exporter->cgroups) ?:
		       live_take(exporter->live, &without_faults, now);
}

/* Runs in the thread of the collector, which feeds the analysis: it does not change meanwhile. */
static void export_update(void *context)
{
	struct exporter *exporter = context;
	struct live_counters counters;

	if (exporter->err)
		return;
	watch_lost(exporter->watch, &counters.lost_records, &counters.lost_events);
	counters.hooks = watch_hooks(exporter->watch);
	counters.user_only = exporter->result.report.bpf.user_only;
	counters.source_note = view_source_note(&exporter->result.report);
	exporter->err = export_take(exporter, &counters);
	if (!exporter->err)
		exporter->err = export_write(exporter);
	if (exporter->err)
		watch_end(exporter->watch);
}

static int export_open_watch(struct exporter *exporter)
{
	struct watch_options *options = &exporter->watch_options;
	struct instruments_options *instruments = &options->instruments;

	exporter->live = live_new(0, clock_monotonic_ns());
	if (!exporter->live)
		return message(STATUS_FAILED, "out of memory");
	instruments->tick_ms = exporter->interval_ms;
	instruments->tick_drains = true;
	instruments->tick = export_update;
	instruments->tick_context = exporter;
	/* The causes of the verdict depend on places. Code has no names before the end. */
	options->groups = REPORT_PLACES & ~(1U << GROUP_BY_CODE);
	cgroup_analyses_init(&exporter->cgroups, instruments->bpf, page_size(), options->groups,
			     process_cgroup);
	if (exporter->by_cgroup) {
		options->tap = cgroup_analyses_add;
		options->tap_context = &exporter->cgroups;
	}
	return watch_open(&exporter->watch, options, &exporter->result);
}

static int message_of_metrics(const struct exporter *exporter, int err)
{
	return message(STATUS_FAILED, "cannot write %s: %s", exporter->path, invoker_strerror(err));
}

/* Before the program begins, and not after the first interval. */
static int export_check_path(const struct exporter *exporter)
{
	struct output *output;
	int err = output_open(&output, exporter->path);

	if (err)
		return message_of_metrics(exporter, err);
	output_close(output);
	return STATUS_OK;
}

static int export_run(struct exporter *exporter)
{
	int status;

	status = export_check_path(exporter);
	if (!status)
		status = export_open_watch(exporter);
	if (!status)
		status = watch_go(exporter->watch);
	if (!status) {
		watch_wait(exporter->watch);
		watch_stop(exporter->watch);
		export_update(exporter); /* with the faults since the last interval */
		if (exporter->result.damage[0])
			status = message(STATUS_FAILED, "%s", exporter->result.damage);
	}
	if (!status && exporter->err)
		status = message_of_metrics(exporter, exporter->err);
	return status ? status : watch_status(exporter->watch);
}

static int cmd_export(int argc, char **argv)
{
	struct exporter exporter = { .interval_ms = 10000 };
	int status;

	watch_options_init(&exporter.watch_options);
	argp_parse(&export_argp, argc, argv, ARGP_IN_ORDER, NULL, &exporter);
	signals_init();
	result_init(&exporter.result);
	status = export_run(&exporter);
	watch_close(exporter.watch);
	cgroup_analyses_exit(&exporter.cgroups);
	live_free(exporter.live);
	result_free(&exporter.result);
	return status;
}

const struct subcommand export_command = {
	.name = "export",
	.title = "pfdrive export",
	.group = COMMAND_MEASURE,
	.summary = "write a program's fault counters, for monitoring",
	.run = cmd_export,
	.argp = &export_argp,
};
