// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive what-if: predicts from one recording what other settings would do. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "model/counters.h"
#include "predict/what_if.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "privilege/output.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/json_value.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/text.h"

#define AS_RECORDED "as recorded"

static const char *const advice_names[] = MAPPING_ADVICE_NAMES;

/* The text. */

static double pages_in_mib(uint64_t pages)
{
	return (double)pages * page_size() / (1 << 20);
}

static void size_cell(struct grid *grid, uint64_t pages)
{
	char name[32];

	size_name(pages * page_size(), name, sizeof(name));
	grid_cell(grid, "%s", name);
}

static void what_if_cells(struct grid *grid, const struct what_if *what_if, size_t i)
{
	const struct what_if_row *row = &what_if->rows[i];
	const struct prediction_settings *settings = &row->settings;

	grid_row(grid);
	grid_cell(grid, "%s", i == what_if->best ? "*" : "");
	if (settings->window == PREDICTION_RECORDED)
		grid_cell(grid, "%s", AS_RECORDED);
	else
		size_cell(grid, settings->window);
	grid_cell(grid, "%s",
		  settings->advice == MAPPING_MIXED ? AS_RECORDED : advice_names[settings->advice]);
	size_cell(grid, settings->around);
	if (row->cannot) {
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		return;
	}
	grid_cell(grid, "%" PRIu64, row->prediction.major);
	grid_cell(grid, "%" PRIu64, row->prediction.minor);
	grid_cell(grid, "%.2f", pages_in_mib(row->prediction.read_pages));
	if (what_if->exact)
		grid_cell(grid, "%.2f", pages_in_mib(row->prediction.unused_pages));
	else
		grid_cell(grid, "n/a");
	if (row->no_time)
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%.2f", row->prediction.total_ns / 1e6);
}

static int print_settings(FILE *out, const struct what_if *what_if)
{
	static const char *const headings[] = {
		"<",	  ">Read-ahead", "<Advice",	">Fault-around", ">Major",
		">Minor", ">Read MiB",	 ">Unused MiB", ">Time ms"
	};
	struct grid grid;
	size_t i;

	fputc('\n', out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < what_if->nr_rows; i++)
		what_if_cells(&grid, what_if, i);
	return grid_close(&grid, out);
}

static const char *reason_of_row(const struct what_if_row *row)
{
	return row->cannot;
}

static const char *reason_of_time(const struct what_if_row *row)
{
	return row->cannot ? NULL : row->no_time;
}

/* Each reason once, with the number of its rows. */
static void print_reasons_of(FILE *out, const struct what_if *what_if, const char *what,
			     const char *(*reason)(const struct what_if_row *row))
{
	const struct what_if_row *rows = what_if->rows;
	size_t i, j, nr;

	for (i = 0; i < what_if->nr_rows; i++) {
		for (j = 0; j < i && reason(&rows[j]) != reason(&rows[i]); j++)
			;
		if (!reason(&rows[i]) || j < i)
			continue;
		for (nr = 0; j < what_if->nr_rows; j++)
			nr += reason(&rows[j]) == reason(&rows[i]);
		fprintf(out, "Cannot predict %s%zu settings: %s\n", what, nr, reason(&rows[i]));
	}
}

static void print_reasons(FILE *out, const struct what_if *what_if)
{
	size_t i;

	print_reasons_of(out, what_if, "", reason_of_row);
	print_reasons_of(out, what_if, "the time of ", reason_of_time);
	for (i = 0; i < what_if->nr_rows && !what_if->exact; i++)
		if (what_if->rows[i].cannot) {
			fputs("For these, record with --exact, with --fault-around off (module), "
			      "or once with read_ahead_kb 0 and a cold page cache\n",
			      out);
			break;
		}
}

static void print_left_out(FILE *out, const struct recorded_touches *touches)
{
	const struct touched_file *files = touches->files;
	uint64_t faults;
	size_t i, j, nr;

	for (i = 0; i < touches->nr_files; i++) {
		if (!files[i].left_out || !files[i].faults ||
		    !strcmp(files[i].left_out, WHAT_IF_OTHER_FILE))
			continue;
		for (j = 0; j < i && (files[j].left_out != files[i].left_out || !files[j].faults);
		     j++)
			;
		if (j < i)
			continue;
		for (nr = 0, faults = 0; j < touches->nr_files; j++)
			if (files[j].left_out == files[i].left_out && files[j].faults) {
				nr++;
				faults += files[j].faults;
			}
		fprintf(out, "Left out: %zu files with %" PRIu64 " faults: %s\n", nr, faults,
			files[i].left_out);
	}
}

static void print_unknown(FILE *out, const struct recorded_touches *touches)
{
	uint64_t unknown = 0;
	size_t i;

	if (!touches->complete)
		fputs("THE END OF THE RECORDING IS MISSING: LATER ACCESSES ARE NOT KNOWN\n", out);
	else if (touches->lost && touches->lost != COUNT_NA)
		fprintf(out, "LOST %" PRIu64 " RECORDS OR SAMPLES: THEIR ACCESSES ARE NOT KNOWN\n",
			touches->lost);
	if (touches->unplaced)
		fprintf(out, "Left out: %" PRIu64 " faults whose mappings are not known\n",
			touches->unplaced);
	if (touches->states)
		fputs("The program's madvise(2) calls were not recorded: the advice is that which "
		      "pfdrive saw in mappings that were read much, and none in others\n",
		      out);
	else if (!touches->have_advice)
		fputs("The program's madvise(2) calls were not recorded: the model takes mappings "
		      "from the recording for ones without advice\n",
		      out);
	for (i = 0; i < touches->nr_files; i++)
		unknown += touches->files[i].faults && !touches->files[i].left_out &&
			   !touches->files[i].size_known;
	if (unknown)
		fprintf(out,
			"Size not known: %" PRIu64
			" files are gone or changed; the model reads them as "
			"far as they were mapped\n",
			unknown);
}

static void print_best_setting(FILE *out, const struct what_if *what_if)
{
	const struct what_if_row *row = &what_if->rows[what_if->best];
	bool predicted = false;
	size_t i;

	for (i = 0; i < what_if->nr_rows; i++)
		predicted |= !what_if->rows[i].cannot;
	if (what_if->best == what_if->nr_rows)
		fprintf(out, "\nBest: not known%s\n",
			predicted ?
				": fewer major faults read more, and not all times are predicted" :
				"");
	else if (row->no_time)
		fputs("\n* has the fewest major faults, and reads least\n", out);
	else
		fprintf(out, "\n* has the least time, %.2f ms (+- %.2f)\n",
			row->prediction.total_ns / 1e6, row->prediction.error_ns / 1e6);
}

static int print_what_if(FILE *out, const struct what_if *what_if)
{
	const struct recorded_touches *touches = &what_if->touches;
	int err;

	fprintf(out, "Recorded: %" PRIu64 " faults, %" PRIu64 " of them major, Linux %s, %s\n",
		what_if->faults, what_if->major, touches->environment.kernel,
		what_if->exact ? "with the first access to each page" :
				 "without the accesses that fault-around hid");
	fputs("Predicted: the same accesses with an empty page cache\n", out);
	print_left_out(out, touches);
	print_unknown(out, touches);
	if (!what_if->around_known)
		fputs("Fault-around is taken for 64K: the recording does not have the setting\n",
		      out);
	err = print_settings(out, what_if);
	print_reasons(out, what_if);
	print_best_setting(out, what_if);
	errno = 0;
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

/* The same as JSON, see Documentation/formats/pfdrive-what-if.schema.json. */

static json_t *pages_json(bool known, uint64_t pages)
{
	return value_count_if(known, pages * page_size());
}

static json_t *setting_json(const struct what_if *what_if, size_t i)
{
	const struct what_if_row *row = &what_if->rows[i];
	const bool recorded = row->settings.window == PREDICTION_RECORDED;
	const int64_t bytes = recorded ? what_if->readahead_bytes :
					 (int64_t)(row->settings.window * page_size());

	return value_object((const struct value_member[]){
		{ "read_ahead_kb", value_count_if(bytes >= 0, bytes / 1024) },
		{ "advice", row->settings.advice == MAPPING_MIXED ?
				    json_null() :
				    json_string(advice_names[row->settings.advice]) },
		{ "fault_around_bytes", value_count(row->settings.around * page_size()) },
		{ "as_recorded", json_boolean(!i) },
		{ "major_faults", value_count_if(!row->cannot, row->prediction.major) },
		{ "minor_faults", value_count_if(!row->cannot, row->prediction.minor) },
		{ "bytes_read", pages_json(!row->cannot, row->prediction.read_pages) },
		{ "bytes_unused",
		  pages_json(!row->cannot && what_if->exact, row->prediction.unused_pages) },
		{ "total_ns",
		  value_count_if(!row->cannot && !row->no_time, row->prediction.total_ns) },
		{ "error_ns",
		  value_count_if(!row->cannot && !row->no_time, row->prediction.error_ns) },
		{ "no_time", value_text(row->cannot ? NULL : row->no_time) },
		{ "best", json_boolean(i == what_if->best) },
		{ "cannot", value_text(row->cannot) },
		{ 0 },
	});
}

static json_t *touched_file_json(const struct touched_file *file)
{
	return value_object((const struct value_member[]){
		{ "path", value_text(file->path) },
		{ "filesystem", value_text(file->type) },
		{ "read_ahead_kb",
		  value_count_if(file->readahead_bytes >= 0, file->readahead_bytes / 1024) },
		{ "faults", value_count(file->faults) },
		{ "major_faults", value_count(file->major) },
		{ "size_known", json_boolean(file->size_known) },
		{ "left_out", value_text(file->left_out) },
		{ 0 },
	});
}

static json_t *what_if_json(const struct what_if *what_if)
{
	const struct recorded_touches *touches = &what_if->touches;
	json_t *settings = json_array(), *files = json_array();
	size_t i;

	for (i = 0; i < what_if->nr_rows; i++)
		settings = value_appended(settings, setting_json(what_if, i));
	for (i = 0; i < touches->nr_files; i++)
		if (touches->files[i].faults)
			files = value_appended(files, touched_file_json(&touches->files[i]));
	return value_object((const struct value_member[]){
		{ "kernel", value_text(touches->environment.kernel) },
		{ "rule_since",
		  value_text(readahead_kernel_find(touches->environment.kernel)->since) },
		{ "exact", json_boolean(what_if->exact) },
		{ "faults", value_count(what_if->faults) },
		{ "major_faults", value_count(what_if->major) },
		{ "complete", json_boolean(touches->complete) },
		{ "lost", value_known(touches->lost) },
		{ "unplaced", value_count(touches->unplaced) },
		{ "have_advice", json_boolean(touches->have_advice) },
		{ "fault_around_known", json_boolean(what_if->around_known) },
		{ "settings", settings },
		{ "files", files },
		{ 0 },
	});
}

static int write_what_if_json(const struct what_if *what_if)
{
	const char *path = what_if->options.json;
	struct output *output;
	int err;

	if (!path)
		return STATUS_OK;
	err = output_open(&output, path);
	if (!err) {
		err = value_print(output_stream(output), what_if_json(what_if));
		if (err)
			output_close(output);
		else
			err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

/* The command line. */

enum key {
	KEY_READ_AHEAD = 4000,
	KEY_ADVICE,
	KEY_FAULT_AROUND,
	KEY_FILE,
	KEY_JSON,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Settings:", 1 },
	{ "read-ahead", KEY_READ_AHEAD, "SIZE,...", 0,
	  "values of read_ahead_kb, in bytes (default: 0,32K,128K,512K,2M)", 1 },
	{ "advice", KEY_ADVICE, "normal,random,sequential", 0,
	  "madvise(2) for all mapped data files (default: as recorded, random and sequential)", 1 },
	{ "fault-around", KEY_FAULT_AROUND, "SIZE,...", 0,
	  "values of fault_around_bytes (default: as recorded)", 1 },
	{ "file", KEY_FILE, "PATH", 0,
	  "predict only the faults on this recorded file, or those in this folder", 1 },
	{ NULL, 0, NULL, 0, "Output:", 2 },
	{ "json", KEY_JSON, "FILE", 0, "also write JSON to FILE", 2 },
	{ 0 },
};

#define READ_AHEAD_MAX	 (256ULL << 20)
#define FAULT_AROUND_MAX (2ULL << 20)

/* Returns how many sizes there are. Each is a multiple of the page size. */
static size_t take_sizes(const struct argp_state *state, const char *name, char *text, uint64_t min,
			 uint64_t max, uint64_t sizes[WHAT_IF_VALUES])
{
	size_t nr = 0;
	char *word;

	while ((word = strsep(&text, ","))) {
		if (nr == WHAT_IF_VALUES)
			usage(state, "--%s takes at most %u values", name, WHAT_IF_VALUES);
		sizes[nr] = argument_size(state, name, word, min, max);
		if (sizes[nr] % page_size())
			usage(state, "--%s: %s is not a multiple of the page size", name, word);
		nr++;
	}
	return nr;
}

static void take_around(struct what_if_options *options, const struct argp_state *state, char *text)
{
	size_t i;

	options->nr_around = take_sizes(state, "fault-around", text, page_size(), FAULT_AROUND_MAX,
					options->around);
	for (i = 0; i < options->nr_around; i++)
		if (options->around[i] & (options->around[i] - 1))
			usage(state, "--fault-around takes powers of two");
}

static void take_advice_words(struct what_if_options *options, const struct argp_state *state,
			      const char *text)
{
	static const char *const words[] = { "normal", "random", "sequential", NULL };
	const unsigned int given = argument_list(state, "advice", text, words);
	unsigned int i;

	options->nr_advice = 0;
	for (i = 0; i < MAPPING_NR_ADVICES; i++)
		if (given & 1U << i)
			options->advice[options->nr_advice++] = i;
}

static error_t what_if_parse_option(int key, char *text, struct argp_state *state)
{
	struct what_if_options *options = state->input;

	switch (key) {
	case KEY_READ_AHEAD:
		options->nr_readahead = take_sizes(state, "read-ahead", text, 0, READ_AHEAD_MAX,
						   options->readahead);
		return 0;
	case KEY_ADVICE:
		take_advice_words(options, state, text);
		return 0;
	case KEY_FAULT_AROUND:
		take_around(options, state, text);
		return 0;
	case KEY_FILE:
		options->file = text;
		return 0;
	case KEY_JSON:
		options->json = text;
		return 0;
	case ARGP_KEY_ARG:
		if (options->recording)
			usage(state, "unexpected argument '%s'; give one RECORDING", text);
		options->recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_input(state, "the recording", options->recording);
		named_files_output(state, "--json", options->json);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp what_if_argp = {
	.options = argp_options,
	.parser = what_if_parse_option,
	.args_doc = "RECORDING",
	.doc = "Predicts the major faults and the bytes read that the recorded accesses would have "
	       "under other read-ahead, advice and fault-around, with an empty page cache."
	       "\vNothing is run or changed, and no privilege is required. Record a cold start. A "
	       "recording with fault-around does not have each access, so it can answer for the "
	       "recorded read-ahead and more, not for less.",
};

static int what_if_run(struct what_if *what_if)
{
	struct why why;

	if (what_if_open(what_if, &why))
		return signals_caught ? 128 + signals_caught :
					message(STATUS_FAILED, "%s", why.text);
	what_if_add_settings(what_if);
	if (what_if_predict(what_if))
		return signals_caught ? 128 + signals_caught :
					message(STATUS_FAILED, "out of memory");
	return STATUS_OK;
}

static int cmd_what_if(int argc, char **argv)
{
	struct what_if_options options = { 0 };
	struct what_if *what_if;
	int status, err;

	argp_parse(&what_if_argp, argc, argv, 0, NULL, &options);
	what_if = calloc(1, sizeof(*what_if));
	if (!what_if)
		return message(STATUS_FAILED, "out of memory");
	what_if->options = options;
	signals_init();
	/* Nothing here needs the privileges from sudo. */
	err = invoker_become();
	if (err)
		status = message(STATUS_FAILED, "cannot become %s: %s", invoker_name(),
				 strerror(-err));
	else
		status = what_if_run(what_if);
	if (!status) {
		err = print_what_if(stdout, what_if);
		status = err ? message_of_stdout(err, "the prediction") : STATUS_OK;
	}
	if (!status)
		status = write_what_if_json(what_if);
	what_if_exit(what_if);
	free(what_if);
	return status;
}

const struct subcommand what_if_command = {
	.name = "what-if",
	.title = "pfdrive what-if",
	.group = COMMAND_EXPLAIN,
	.summary = "predict other read-ahead and advice from a recording",
	.run = cmd_what_if,
	.argp = &what_if_argp,
};
