// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive report: reads a recording, feeds the events to the analysis, and prints the report, a
 * trace or figures. A damaged recording is reported as far as it can be read.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/required_hooks.h"
#include "cmd/cmd.h"
#include "cmd/report_options.h"
#include "figures/figures.h"
#include "predict/what_if.h"
#include "print/html/html.h"
#include "print/json/json_environment.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "recording/selection.h"
#include "report/report.h"
#include "symbols/symbols.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/output_stream.h"
#include "util/signals.h"
#include "util/why.h"

struct reading {
	struct report_arguments options;
	struct recording_reader *reader;
	struct file_filter filter;
	struct time_range range;
	struct analysis *analysis;
	struct run_counters counters;
	struct report report;
	struct fault_stream stream;
	struct figures figures;
	struct output *out, *json;
	FILE *gzip;	     /* compresses into out, NULL if out is not compressed */
	uint32_t hooks_seen; /* 1 << enum bpf_hook: hooks whose events are in the recording */
	char damage[512];    /* "": none */
};

static int open_recording(struct reading *reading)
{
	const char *path = reading->options.recording;
	struct why why;

	if (recording_open(&reading->reader, path, &why))
		return message(STATUS_FAILED, "%s", why.text);
	if (json_head_parse(&reading->report, recording_head(reading->reader)))
		return message(STATUS_FAILED, "cannot explain %s: the head is not complete", path);
	return STATUS_OK;
}

static int message_of_items(const struct reading *reading, int err)
{
	return message(STATUS_FAILED, "cannot explain %s: %s", reading->options.recording,
		       strerror(-err));
}

static int open_filter(struct reading *reading)
{
	struct environment *environment = &reading->report.environment;
	const struct report_arguments *options = &reading->options;
	int err;

	if (!options->file)
		return STATUS_OK;
	err = file_filter_open(&reading->filter, options->recording, options->file,
			       &signals_caught);
	if (err == -EINTR)
		return 128 + signals_caught;
	if (err == -ENOENT)
		return message(STATUS_FAILED,
			       "no fault on %s was recorded; see 'pfdrive report --by file'",
			       options->file);
	if (err == -ENOSPC)
		return message(STATUS_FAILED,
			       "cannot select %s: a report distinguishes only %d files, not this "
			       "one; see 'pfdrive report --by file'",
			       options->file, GROUPS_MAX);
	if (err)
		return message_of_items(reading, err);
	snprintf(environment->only_file, sizeof(environment->only_file), "%s", options->file);
	return STATUS_OK;
}

static int open_range(struct reading *reading)
{
	const struct report_arguments *options = &reading->options;
	int err;

	reading->range = options->range;
	if (!options->ranged)
		return STATUS_OK;
	err = time_range_open(&reading->range, options->recording, &signals_caught);
	if (err == -EINTR)
		return 128 + signals_caught;
	if (err == -ERANGE)
		return message(STATUS_FAILED,
			       "--from is after the end of %s, which lasts %.9g s; give an earlier "
			       "time",
			       options->recording, reading->range.length_ns / 1e9);
	return err ? message_of_items(reading, err) : STATUS_OK;
}

static int open_output(struct output **output, const char *path)
{
	int err;

	if (!path)
		return STATUS_OK;
	err = output_open(output, path);
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

/* A profile for pprof is compressed by the pprof printer. */
static bool report_wants_gzip(const struct report_arguments *options)
{
	const size_t length = options->output ? strlen(options->output) : 0;

	return length > 3 && !strcmp(options->output + length - 3, ".gz") &&
	       !report_format_is_compressed(options->report.format);
}

static int open_main_output(struct reading *reading)
{
	int status = open_output(&reading->out, reading->options.output);

	if (status || !report_wants_gzip(&reading->options))
		return status;
	reading->gzip = gzip_stream_open(output_stream(reading->out));
	return reading->gzip ? STATUS_OK : message(STATUS_FAILED, "out of memory");
}

static int reading_close_gzip(struct reading *reading)
{
	FILE *gzip = reading->gzip;

	reading->gzip = NULL;
	return gzip && fclose(gzip) ? -(errno ?: EIO) : 0;
}

static FILE *stream_of(const struct reading *reading)
{
	if (reading->gzip)
		return reading->gzip;
	return reading->out ? output_stream(reading->out) : stdout;
}

static bool has_figures(const struct reading *reading)
{
	return reading->options.figures.html || reading->options.figures.plot;
}

/* Stops reading if the stream cannot be written, unless other outputs were requested. */
static int after_stream(const struct reading *reading, int err)
{
	return reading->json || has_figures(reading) ? 0 : err;
}

static int reading_add_fault(void *context, const struct explained *fault)
{
	struct reading *reading = context;

	return after_stream(reading, fault_stream_fault(&reading->stream, fault));
}

/* Rows are printed while the items are read, but the names of code are behind the items. */
static int take_code_names_ahead(struct reading *reading)
{
	const char *path = reading->options.recording;
	json_t *symbols;
	int err;

	if (!report_format_has_code(reading->options.report.format))
		return 0;
	if (!strcmp(path, "-")) {
		message(STATUS_OK, "standard input has the names of code at its end, so function, "
				   "source_file and line are empty; name a file instead");
		return 0;
	}
	err = recording_symbols_ahead(path, &symbols);
	if (err)
		return err;
	err = code_names_take(reading->analysis, symbols);
	json_decref(symbols);
	return err;
}

static int open_analysis(struct reading *reading)
{
	const struct report_options *options = &reading->options.report;
	unsigned int groups = REPORT_PLACES;
	int err;

	if (options->grouped)
		groups |= 1U << options->by;
	if (reading->options.figures.html)
		groups |= 1U << GROUP_BY_STACK;
	reading->analysis = analysis_new(reading->report.bpf.known,
					 recording_page_bytes(reading->reader), groups);
	err = reading->analysis ? 0 : -ENOMEM;
	if (!err)
		analysis_expect_spans(reading->analysis, recording_has_spans(reading->reader));
	if (!err)
		analysis_keep_slowest(reading->analysis, reading->options.slowest);
	if (!err)
		err = take_code_names_ahead(reading);
	if (!err && has_figures(reading))
		err = figures_open(&reading->figures, reading->analysis);
	if (!err && report_format_has_faults(options->format))
		err = fault_stream_open(&reading->stream, options->format, stream_of(reading),
					reading->analysis, &reading->range);
	if (!err && report_format_has_faults(options->format))
		err = analysis_listen(reading->analysis, reading_add_fault, reading);
	return err ? message(STATUS_FAILED, "cannot prepare the report: %s", strerror(-err)) :
		     STATUS_OK;
}

/*
 * The figures and the trace come first: they must know a request before the fault waiting for it,
 * and the time of the fault passed on by the analysis.
 */
static int reading_add_item(void *context, const struct item *item)
{
	struct reading *reading = context;
	int err = 0;

	if (item->type == ITEM_EVENT)
		reading->hooks_seen |= required_hooks(item->event);
	if (!file_filter_passes(&reading->filter, item))
		return 0;
	if (has_figures(reading))
		err = figures_item(&reading->figures, item);
	if (!err)
		err = after_stream(reading, fault_stream_before(&reading->stream, item));
	if (!err)
		err = analysis_add(reading->analysis, item);
	return err ? err : after_stream(reading, fault_stream_after(&reading->stream, item));
}

static int message_of_print(const struct reading *reading, int err)
{
	const char *output = reading->options.output;

	if (err == -ENOMEM && report_format_has_faults(reading->options.report.format))
		return message(STATUS_FAILED,
			       "out of memory: %s has too many faults; select some "
			       "with --from and --to, or with --file",
			       reading->options.recording);
	return output ? message(STATUS_FAILED, "cannot write %s: %s", output, strerror(-err)) :
			message_of_stdout(err, "the report");
}

static int reading_read_items(struct reading *reading)
{
	int err = recording_feed(reading->reader, reading_add_item, reading, &signals_caught);

	if (signals_caught)
		return 128 + signals_caught;
	if (!err)
		err = analysis_finish(reading->analysis);
	if (err && err == reading->stream.err)
		return message_of_print(reading, err);
	return err ? message_of_items(reading, err) : STATUS_OK;
}

/* Without a tail the counters are n/a. */
static void reading_read_tail(struct reading *reading)
{
	const json_t *tail = recording_tail(reading->reader);
	const char *damage = recording_damage(reading->reader);
	int err = tail ? counters_json_parse(&reading->counters, tail) : 0;

	if (damage)
		snprintf(reading->damage, sizeof(reading->damage), "%s", damage);
	else if (err)
		snprintf(reading->damage, sizeof(reading->damage),
			 "the final counts in %.200s are not valid", reading->options.recording);
}

/*
 * Counters cover all files, so they are n/a for one file. Lost records may have been for this file,
 * and a call costs the same for all files, so these are kept.
 */
static void forget_counts(struct reading *reading)
{
	struct report *report = &reading->report;
	struct run_counters all = reading->counters, *counters = &reading->counters;

	run_counters_init(counters);
	counters->start_ns = all.start_ns;
	counters->end_ns = all.end_ns;
	counters->lost = all.lost;
	counters->call_cost_ps = all.call_cost_ps;
	counters->inside_ps = all.inside_ps;
	counters->names_left_out = all.names_left_out;
	counters->maps_lost = all.maps_lost;
	counters->maps_late_cpus = all.maps_late_cpus;
	counters->filesystems = all.filesystems;
	counters->nr_filesystems = all.nr_filesystems;
	all.filesystems = NULL;
	if (all.have_bpf) {
		report->bpf.known = true;
		report->bpf.hooks = all.hooks;
		report->losses.events = all.counts[PFSTAT_COUNT_EVENTS_LOST];
		report->losses.events_skipped = all.events_skipped;
		report->losses.faults = all.faults_lost;
	}
	run_counters_exit(&all);
}

static int reading_draw(struct reading *reading)
{
	const struct figure_source source = {
		.report = &reading->report,
		.analysis = reading->analysis,
	};

	return figures_draw(&reading->figures, &source);
}

static int reading_fill(struct reading *reading)
{
	struct report *report = &reading->report;
	int err;

	reading_read_tail(reading);
	if (reading->options.file)
		forget_counts(reading);
	if (reading->damage[0])
		report->losses.damage = reading->damage;
	/* Without the counters at the end only hooks with events are known. */
	if (!reading->counters.have_bpf && report->bpf.known)
		report->bpf.hooks |= reading->hooks_seen;
	report_options_apply(&reading->options.report, report);
	report->slowest.wanted = reading->options.slowest;
	err = code_names_take(reading->analysis, recording_symbols(reading->reader));
	if (!err)
		err = report_fill(report, reading->analysis, &reading->counters);
	if (!err && has_figures(reading))
		err = reading_draw(reading);
	return err ? message(STATUS_FAILED, "out of memory") : STATUS_OK;
}

/* The recording is read once more, which standard input and a part of one do not allow. */
static int reading_predict(struct reading *reading)
{
	const struct report_arguments *options = &reading->options;
	int err = 0;

	if (strcmp(options->recording, "-") && !options->ranged &&
	    !report_format_has_faults(options->report.format))
		err = report_prediction_fill(&reading->report, options->recording, options->file);
	if (err == -EINTR)
		return 128 + signals_caught;
	return err ? message(STATUS_FAILED, "out of memory") : STATUS_OK;
}

static int reading_print_main(struct reading *reading)
{
	const struct report *report = &reading->report;
	FILE *out = stream_of(reading);
	int err;

	if (report_format_has_faults(reading->options.report.format))
		return fault_stream_end(&reading->stream, report, reading->counters.start_ns);
	if (!report_figures_as_text(&reading->options.figures))
		return print_report(out, reading->options.report.format, report, 1);
	err = print_report_warnings(out, report);
	return err ? err : report_figures_print_text(out, reading->figures.drawings, FIGURES_NR);
}

static int commit(struct output **output)
{
	struct output *finished = *output;

	*output = NULL;
	return finished ? output_commit(finished) : 0;
}

/* Without call paths all faults are in one group. */
static bool lacks_stacks(const struct reading *reading)
{
	const struct report_groups *groups = &reading->report.groups;

	return reading->options.report.format == REPORT_FOLDED && groups->by == GROUP_BY_STACK &&
	       groups->nr == 1 && groups->rows[0].number <= 1 &&
	       !strcmp(groups->rows[0].name, "(not known)");
}

static int reading_print(struct reading *reading)
{
	int err;

	if (lacks_stacks(reading))
		return message(
			STATUS_FAILED,
			"--format folded: %s has no call paths; record with --stacks, or add "
			"--by code",
			reading->options.recording);
	err = reading_print_main(reading);
	if (!err)
		err = reading_close_gzip(reading);
	/* Standard output has the beginning of a trace by now, so it must also have the end. */
	if (!err && reading->options.ranged && !reading->stream.faults)
		return message(STATUS_FAILED,
			       "no fault in %s is within --from and --to; the recording "
			       "lasts %.9g s",
			       reading->options.recording, reading->range.length_ns / 1e9);
	if (!err)
		err = commit(&reading->out);
	return err ? message_of_print(reading, err) : STATUS_OK;
}

static int reading_write_json(struct reading *reading)
{
	int err;

	if (!reading->json)
		return STATUS_OK;
	err = print_report(output_stream(reading->json), REPORT_JSON, &reading->report, 1);
	if (!err)
		err = commit(&reading->json);
	return err ? message(STATUS_FAILED, "cannot write %s: %s", reading->options.report.json,
			     invoker_strerror(err)) :
		     STATUS_OK;
}

static int reading_print_page(FILE *out, void *context, char *const *svgs)
{
	const struct reading *reading = context;
	struct html_page page = {
		.report = &reading->report,
		.recording = reading->options.recording,
		.drawings = reading->figures.drawings,
		.svgs = svgs,
		.nr = FIGURES_NR,
	};
	struct group *stacks;
	int err = analysis_groups(reading->analysis, GROUP_BY_STACK, &stacks, &page.nr_stacks);

	if (err)
		return err;
	page.stacks = stacks;
	err = html_print_report(out, &page);
	free(stacks);
	return err;
}

static int reading_write_figures(struct reading *reading)
{
	if (!has_figures(reading))
		return STATUS_OK;
	return report_figures_write(&reading->options.figures, reading->figures.drawings,
				    FIGURES_NR, reading_print_page, reading);
}

/* Writes all outputs, even if one fails. */
static int reading_show(struct reading *reading)
{
	int printed = reading_print(reading);
	int written = reading_write_json(reading);
	int drawn = reading_write_figures(reading);

	if (printed)
		return printed;
	return written ? written : drawn;
}

static int report_steps(struct reading *reading)
{
	int status;

	status = open_recording(reading);
	if (!status)
		status = open_filter(reading);
	if (!status)
		status = open_range(reading);
	if (!status)
		status = open_main_output(reading);
	if (!status)
		status = open_output(&reading->json, reading->options.report.json);
	if (!status)
		status = open_analysis(reading);
	if (!status)
		status = reading_read_items(reading);
	if (!status)
		status = reading_fill(reading);
	if (!status)
		status = reading_predict(reading);
	if (!status)
		status = reading_show(reading);
	/* Damage is not a failure: the readable part was printed, with a warning. */
	if (!status && reading->report.losses.damage)
		message(STATUS_OK, "%s", reading->report.losses.damage);
	return status;
}

static int report_print_columns(void)
{
	const int err = print_rows_columns(stdout);

	return err ? message_of_stdout(err, "the columns") : STATUS_OK;
}

static int cmd_report(int argc, char **argv)
{
	struct reading reading = { 0 };
	int status;

	report_arguments_parse(&reading.options, argc, argv);
	if (reading.options.columns)
		return report_print_columns();
	signals_init();
	report_init(&reading.report);
	run_counters_init(&reading.counters);
	status = report_steps(&reading);
	fault_stream_close(&reading.stream);
	reading_close_gzip(&reading);
	figures_close(&reading.figures);
	report_exit(&reading.report);
	analysis_free(reading.analysis);
	run_counters_exit(&reading.counters);
	recording_close(reading.reader);
	file_filter_close(&reading.filter);
	output_close(reading.out);
	output_close(reading.json);
	return status;
}

const struct subcommand report_command = {
	.name = "report",
	.title = "pfdrive report",
	.group = COMMAND_EXPLAIN,
	.summary = "print a recording: tables, figures or a trace",
	.run = cmd_report,
	.argp = &report_arguments_argp,
};
