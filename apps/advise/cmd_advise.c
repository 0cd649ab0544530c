// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive advise: replays a recording under several policies, and prints the ranking as a table or
 * as JSON.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "advise/advise.h"
#include "model/counters.h"
#include "privilege/named_files.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/json_value.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/text.h"

/* Prints the ranking as a table, after the conditions limiting it. */

#define REMEDY_SIZE    5000
#define FAITHFUL_SHARE 0.15

static double recorded_ns(const struct advise *advise)
{
	return advise->accesses.end_ns - advise->accesses.start_ns;
}

static void print_file_line(FILE *out, const char *what, const char *path, const char *rest)
{
	fprintf(out, "%s: ", what);
	utf8_print(out, path);
	fprintf(out, "%s%s\n", *rest ? ": " : "", rest);
}

static void print_recording(FILE *out, const struct advise *advise)
{
	const struct recorded_accesses *accesses = &advise->accesses;
	uint64_t faults = accesses->unplaced + accesses->not_repeated, replayed = 0;
	double ns = accesses->unplaced_ns + accesses->not_repeated_ns, replayed_ns = 0;
	const struct accessed_file *file;
	size_t i;

	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		faults += file->faults;
		ns += file->fault_ns;
		if (file->left_out)
			continue;
		replayed += file->faults;
		replayed_ns += file->fault_ns;
	}
	fprintf(out,
		"Recorded: %.3f ms; replayed: %" PRIu64 " of %" PRIu64
		" file faults, %.1f %% of their time\n",
		recorded_ns(advise) / 1e6, replayed, faults, ns > 0 ? 100 * replayed_ns / ns : 0);
	fprintf(out, "Replayed as recorded: %.3f ms, in %u rounds\n",
		advise->ranking.anchor_ns / 1e6, advise->options.rounds);
}

static void print_files(FILE *out, const struct recorded_accesses *accesses)
{
	const struct accessed_file *file;
	char rest[256];
	size_t i;

	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		snprintf(rest, sizeof(rest), "%" PRIu64 " store faults are replayed as reads",
			 file->stores);
		if (file->advised)
			print_file_line(out, "Advised", file->path, file->stores ? rest : "");
		if (file->faults && file->left_out) {
			snprintf(rest, sizeof(rest), "%s; %.3f ms of its faults stay as recorded",
				 file->left_out, file->fault_ns / 1e6);
			print_file_line(out, "Left out", file->path, rest);
		} else if (file->changed) {
			print_file_line(out, "CHANGED AFTER THE RECORDING", file->path, "");
		}
	}
}

static void print_losses(FILE *out, const struct recorded_accesses *accesses)
{
	if (accesses->lost == COUNT_NA)
		fputs("THE END OF THE RECORDING IS MISSING: LATER ACCESSES ARE NOT KNOWN\n", out);
	else if (accesses->lost)
		fprintf(out, "LOST %" PRIu64 " RECORDS: THEIR ACCESSES ARE NOT REPLAYED\n",
			accesses->lost);
	if (accesses->events_lost && accesses->events_lost != COUNT_NA)
		fprintf(out,
			accesses->by_perf ?
				"LOST %" PRIu64 " SAMPLES: THEIR ACCESSES ARE NOT REPLAYED\n" :
				"LOST %" PRIu64 " EVENTS OF EBPF: SLEEPS MAY BE MISSING\n",
			accesses->events_lost);
	if (!accesses->have_bpf)
		fputs("No eBPF: the program's advice and the waits between threads are not known, "
		      "and the time between faults is repeated as sleep\n",
		      out);
	else if (!accesses->have_advice)
		fputs("The recording does not have the program's advice, so the control has none\n",
		      out);
}

/* Mappings of advised files existing before the recording, with unknown advice. */
static void print_unknown_advice(FILE *out, const struct recorded_accesses *accesses)
{
	size_t i, unknown = 0;

	for (i = 0; i < accesses->nr_mappings; i++)
		unknown += accesses->mappings[i].used && accesses->mappings[i].no_advice &&
			   accesses->files[accesses->mappings[i].file].advised;
	if (unknown)
		fprintf(out,
			"The advice for %zu mappings from before the recording is not known, so "
			"the control has none for them; record with the module\n",
			unknown);
}

static void print_hidden(FILE *out, const struct recorded_accesses *accesses)
{
	if (accesses->populated)
		fputs("Hidden: the program called MADV_POPULATE_READ, so accesses caused no "
		      "faults; all savings are at most these. Record it without that call\n",
		      out);
	else if (accesses->around_pages == COUNT_NA)
		fputs("Hidden: fault-around was on, and perf does not show which pages it mapped. "
		      "A saving marked <= is an upper bound; record with --exact\n",
		      out);
	else if (accesses->around_pages)
		fprintf(out,
			"Hidden: fault-around was on and may have mapped %" PRIu64 " pages beside "
			"those that faulted; accesses to them are not known. A saving marked <= "
			"is an upper bound; record with --fault-around off\n",
			accesses->around_pages);
}

static void print_faithfulness(FILE *out, const struct advise *advise)
{
	const double difference = advise->ranking.anchor_ns / recorded_ns(advise) - 1;

	if (advise->anchor_lacks)
		fprintf(out, "Predicted times are not exact: %s\n", advise->anchor_lacks);
	else if (fabs(difference) > FAITHFUL_SHARE)
		fprintf(out,
			"THE REPLAY TAKES %.1f %% %s TIME THAN THE RECORDING: COMPARE SAVINGS ONLY "
			"WITH EACH OTHER\n",
			100 * fabs(difference), difference > 0 ? "MORE" : "LESS");
}

static void row_cells(struct grid *grid, const struct advise *advise, const struct ranking_row *row)
{
	const double share = 100 * row->saving_ns / recorded_ns(advise);

	grid_row(grid);
	grid_cell(grid, "%s", advise->candidates[row->candidate].name);
	grid_cell(grid, "%.3f", row->predicted_ns / 1e6);
	grid_cell(grid, "%s%.3f", row->at_most ? "<= " : "", row->saving_ns / 1e6);
	if (isnan(row->half_width_ns))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.3f", row->half_width_ns / 1e6);
	grid_cell(grid, "%.1f%%", share);
	grid_cell(grid, "%.0f", row->minor + row->major);
	grid_cell(grid, "%.0f", row->major);
	if (isnan(row->read_bytes))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.2f", row->read_bytes / 1048576);
	advise_model_cells(grid, advise, row->candidate);
}

static int advise_print_rows(FILE *out, const struct advise *advise)
{
	static const char *const headings[] = {
		"<Advice",	">Predicted ms",    ">Saving ms", ">+-",
		">Saving",	">Faults",	    ">Major",	  ">Read MiB",
		">Model major", ">Model saving ms", ">+-"
	};
	struct grid grid;
	size_t i;

	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < advise->ranking.nr; i++)
		row_cells(&grid, advise, &advise->ranking.rows[i]);
	return grid_close(&grid, out);
}

static void print_exceptions(FILE *out, const struct advise *advise)
{
	const struct ranking_row *row;
	size_t i;

	for (i = 0; i < advise->nr_candidates; i++)
		if (advise->candidates[i].untried[0])
			fprintf(out, "Not tried: %s: %s\n", advise->candidates[i].name,
				advise->candidates[i].untried);
	for (i = 0; i < advise->ranking.nr; i++) {
		row = &advise->ranking.rows[i];
		if (row->refused)
			fprintf(out, "REFUSED, under %s: %" PRIu64 " madvise(2) calls: %s\n",
				advise->candidates[row->candidate].name, row->refused,
				strerror(row->refused_errno));
	}
}

static const char *reason_of_none(const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;

	if (advise->options.rounds < 2)
		return "not known. One round has no interval; use --rounds 2 or more.";
	if (ranking->rows[0].at_most)
		return "not known. The largest saving is only an upper bound; see Hidden above.";
	return "the recorded policy. No candidate is better than the control by more than its "
	       "interval.";
}

static void print_best(FILE *out, const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;
	const struct accessed_file *file = advise_files_main(&advise->accesses);
	const struct ranking_row *row = &ranking->rows[ranking->best];
	const struct candidate *candidate;
	char remedy[REMEDY_SIZE];

	fputc('\n', out);
	if (ranking->best == ranking->nr) {
		fprintf(out, "Best: %s\n", reason_of_none(advise));
		return;
	}
	candidate = &advise->candidates[row->candidate];
	candidate_remedy(candidate, file->path, file->setting, remedy, sizeof(remedy));
	fprintf(out,
		"Best: %s saves %.3f ms +- %.3f ms of %.3f ms (%.1f %%)\nDo: ", candidate->name,
		row->saving_ns / 1e6, row->half_width_ns / 1e6, recorded_ns(advise) / 1e6,
		100 * row->saving_ns / recorded_ns(advise));
	utf8_print(out, remedy);
	fputc('\n', out);
}

int advise_print_table(FILE *out, const struct advise *advise)
{
	int err;

	print_losses(out, &advise->accesses);
	print_recording(out, advise);
	print_files(out, &advise->accesses);
	print_unknown_advice(out, &advise->accesses);
	print_hidden(out, &advise->accesses);
	print_faithfulness(out, advise);
	err = advise_print_rows(out, advise);
	print_exceptions(out, advise);
	advise_model_print(out, advise);
	print_best(out, advise);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

/* The ranking as one JSON object. */

static json_t *advise_number_or_null(double value)
{
	return isnan(value) ? json_null() : json_integer(llround(value));
}

static json_t *advise_file_json(const struct accessed_file *file)
{
	return json_pack("{so sb sb sb so so so}", "path", value_text(file->path), "advised",
			 file->advised, "cold", file->cold, "changed", file->changed, "faults",
			 value_count(file->faults), "fault_ns", value_count(file->fault_ns),
			 "left_out", value_text(file->left_out));
}

static json_t *advise_files_json(const struct recorded_accesses *accesses)
{
	json_t *files = json_array();
	size_t i;

	for (i = 0; i < accesses->nr_files; i++)
		if (accesses->files[i].faults)
			files = value_appended(files, advise_file_json(&accesses->files[i]));
	return files;
}

static json_t *advise_row_json(const struct advise *advise, const struct ranking_row *row)
{
	json_t *json;

	json = json_pack("{ss sb so so so so so so so so so}", "advice",
			 advise->candidates[row->candidate].name, "at_most", row->at_most,
			 "predicted_ns", advise_number_or_null(row->predicted_ns), "saving_ns",
			 advise_number_or_null(row->saving_ns), "half_width_ns",
			 advise_number_or_null(row->half_width_ns), "replayed_ns",
			 advise_number_or_null(row->elapsed_ns), "fault_ns",
			 advise_number_or_null(row->fault_ns), "minor",
			 advise_number_or_null(row->minor), "major",
			 advise_number_or_null(row->major), "read_bytes",
			 advise_number_or_null(row->read_bytes), "refused",
			 value_count(row->refused));
	return advise_model_add_json(advise, row->candidate, json);
}

static json_t *advise_rows_json(const struct advise *advise)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < advise->ranking.nr; i++)
		rows = value_appended(rows, advise_row_json(advise, &advise->ranking.rows[i]));
	return rows;
}

static json_t *advise_untried_json(const struct advise *advise)
{
	json_t *untried = json_array();
	size_t i;

	for (i = 0; i < advise->nr_candidates; i++)
		if (advise->candidates[i].untried[0])
			untried = value_appended(untried,
						 json_pack("{ss so}", "advice",
							   advise->candidates[i].name, "reason",
							   value_text(advise->candidates[i]
									      .untried)));
	return untried;
}

static json_t *advise_best_json(const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;
	const struct accessed_file *file = advise_files_main(&advise->accesses);
	const struct candidate *candidate;
	char remedy[5000];

	if (ranking->best == ranking->nr)
		return json_null();
	candidate = &advise->candidates[ranking->rows[ranking->best].candidate];
	candidate_remedy(candidate, file->path, file->setting, remedy, sizeof(remedy));
	return json_pack("{ss so}", "advice", candidate->name, "remedy", value_text(remedy));
}

static json_t *advise_hidden_json(const struct recorded_accesses *accesses)
{
	return json_pack("{so sb}", "around_pages", value_known(accesses->around_pages),
			 "populated", accesses->populated);
}

/* The same as JSON, see Documentation/formats/json.rst. */
static int advise_json_print(FILE *out, const struct advise *advise)
{
	const struct recorded_accesses *accesses = &advise->accesses;

	return value_print(out,
			   json_pack("{sI so sI sb so so so so so so so}", "recorded_ns",
				     (json_int_t)(accesses->end_ns - accesses->start_ns),
				     "as_recorded_ns",
				     advise_number_or_null(advise->ranking.anchor_ns), "rounds",
				     (json_int_t)advise->options.rounds, "have_bpf",
				     accesses->have_bpf, "lost", value_known(accesses->lost),
				     "events_lost", value_known(accesses->events_lost), "hidden",
				     advise_hidden_json(accesses), "files",
				     advise_files_json(accesses), "rows", advise_rows_json(advise),
				     "untried", advise_untried_json(advise), "best",
				     advise_best_json(advise)));
}

#define ROUNDS_DEFAULT 7
#define ROUNDS_MAX     1000

struct advise_arguments {
	struct advise_options options;
	bool json;
};

enum key {
	KEY_FORMAT = 'f',
	KEY_ROUNDS = 'n',
	KEY_FILE = 1000,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Advise:", 1 },
	{ "file", KEY_FILE, "PATH", 0,
	  "advise only this recorded file (default: all files that are not executed)", 1 },
	{ "rounds", KEY_ROUNDS, "N", 0, "replay each policy N times (default 7)", 1 },
	{ NULL, 0, NULL, 0, "Output:", 2 },
	{ "format", KEY_FORMAT, "table|json", 0, "standard output format (default table)", 2 },
	{ 0 },
};

static error_t advise_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = { "table", "json", NULL };
	struct advise_arguments *arguments = state->input;

	switch (key) {
	case KEY_FILE:
		arguments->options.path = text;
		return 0;
	case KEY_ROUNDS:
		arguments->options.rounds = argument_number(state, "rounds", text, 1, ROUNDS_MAX);
		return 0;
	case KEY_FORMAT:
		arguments->json = argument_word(state, "format", text, formats);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->options.recording)
			usage(state, "unexpected argument '%s'; give one RECORDING", text);
		arguments->options.recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_input(state, "the recording", arguments->options.recording);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp advise_argp = {
	.options = argp_options,
	.parser = advise_parse_option,
	.args_doc = "RECORDING",
	.doc = "Replays the accesses by all threads to all files in a recording under different "
	       "advice, read-ahead and fault-around, and ranks these by the run time that each "
	       "would save.\vThe files are only read. Record with --fault-around off, so that the "
	       "recording has each accessed page. The module is not required. Machine settings are "
	       "tried only as root, and restored.",
};

static int advise_print(const struct advise_arguments *arguments, const struct advise *advise)
{
	int err = arguments->json ? advise_json_print(stdout, advise) :
				    advise_print_table(stdout, advise);

	return err ? message_of_stdout(err, "the ranking") : STATUS_OK;
}

static int cmd_advise(int argc, char **argv)
{
	struct advise_arguments arguments = { .options.rounds = ROUNDS_DEFAULT };
	struct advise advise;
	int status;

	argp_parse(&advise_argp, argc, argv, 0, NULL, &arguments);
	signals_init();
	status = advise_run(&advise, &arguments.options);
	if (!status)
		status = advise_print(&arguments, &advise);
	advise_exit(&advise);
	return status;
}

const struct subcommand advise_command = {
	.name = "advise",
	.title = "pfdrive advise",
	.group = COMMAND_MEASURE,
	.summary = "replay a recording under each policy, and rank them",
	.run = cmd_advise,
	.argp = &advise_argp,
};
