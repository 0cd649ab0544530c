// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive layout: an order of functions for a linker, from the first touches in a recording. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "model/counters.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "privilege/output.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"

enum layout_format { LAYOUT_LLD, LAYOUT_GOLD };

static const char *const format_words[] = { "lld", "gold", NULL };

/* The order. */

/*
 * GCC has other section names for functions that run at the start or seldom, and for the seldom part
 * of a function, which has a symbol ending in .cold.
 */
static void print_sections(FILE *out, const char *name)
{
	static const char *const prefixes[] = { "", "startup.", "hot.", "unlikely.", "exit." };
	const char *cold = strstr(name, ".cold");
	size_t i;

	if (cold) {
		fprintf(out, ".text.unlikely.%.*s\n", (int)(cold - name), name);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		fprintf(out, ".text.%s%s\n", prefixes[i], name);
}

static void print_order(FILE *out, const struct layout *layout)
{
	size_t i;

	for (i = 0; i < layout->nr_names; i++)
		if (layout->options.format == LAYOUT_GOLD)
			print_sections(out, layout->names[i]);
		else
			fprintf(out, "%s\n", layout->names[i]);
}

static int write_order(const struct layout *layout)
{
	const char *path = layout->options.output;
	struct output *output;
	int err;

	if (!path) {
		print_order(stdout, layout);
		errno = 0;
		err = fflush(stdout) || ferror(stdout) ? (errno ? -errno : -EIO) : 0;
		return err ? message_of_stdout(err, "the order") : STATUS_OK;
	}
	err = output_open(&output, path);
	if (!err) {
		print_order(output_stream(output), layout);
		err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

/* The summary. */

static double layout_mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void prediction_cells(struct grid *grid, const char *name,
			     const struct fault_prediction *prediction)
{
	grid_row(grid);
	grid_cell(grid, "%s", name);
	grid_cell(grid, "%" PRIu64, prediction->major);
	grid_cell(grid, "%.2f", layout_mib(prediction->read_pages * page_size()));
}

static int print_predictions(FILE *out, const struct layout *layout)
{
	static const char *const headings[] = { "<Layout", ">Major", ">Read MiB" };
	struct grid grid;

	if (layout->cannot) {
		fprintf(out, "Cannot predict major faults: %s\n", layout->cannot);
		return 0;
	}
	fputs("Predicted for this file with an empty page cache, if the program uses little of "
	      "each touched page, or all:\n\n",
	      out);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	prediction_cells(&grid, "present", &layout->present);
	prediction_cells(&grid, "in this order, little used", &layout->fewest);
	prediction_cells(&grid, "in this order, all used", &layout->most);
	return grid_close(&grid, out);
}

static int print_layout(FILE *out, const struct layout *layout)
{
	const struct recorded_touches *touches = &layout->touches;
	int err;

	fprintf(out,
		"Touched: %" PRIu64 " of %" PRIu64 " code pages of %s\n"
		"Ordered: %zu of %zu functions, %.2f MiB: all on these pages, by the first touch\n",
		layout->code_pages, page_size_count(layout->elf.text_bytes), layout->file->path,
		layout->nr_ordered, layout->elf.nr, layout_mib(layout->ordered_bytes));
	if (layout->unnamed_pages)
		fprintf(out, "First touched outside functions: %" PRIu64 " pages\n",
			layout->unnamed_pages);
	if (!touches->complete)
		fputs("THE END OF THE RECORDING IS MISSING: LATER TOUCHES ARE NOT KNOWN\n", out);
	else if (touches->lost && touches->lost != COUNT_NA)
		fprintf(out, "LOST %" PRIu64 " RECORDS OR SAMPLES: THEIR TOUCHES ARE NOT KNOWN\n",
			touches->lost);
	err = print_predictions(out, layout);
	errno = 0;
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err ? message_of_stdout(err, "the summary") : STATUS_OK;
}

/* The command line. */

enum key {
	KEY_FILE = 4000,
	KEY_FORMAT,
	KEY_READ_AHEAD,
};

static const struct argp_option argp_options[] = {
	{ "file", KEY_FILE, "PATH", 0, "the recorded ELF file (default: the program)", 1 },
	{ "format", KEY_FORMAT, "lld|gold", 0, "the linker that reads the order (default: lld)",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "write the order to FILE, and print the predicted saving (default: print the order)", 1 },
	{ "read-ahead", KEY_READ_AHEAD, "SIZE", 0,
	  "predict for this read_ahead_kb, in bytes (default: as recorded)", 1 },
	{ 0 },
};

#define READ_AHEAD_MAX (256ULL << 20)

static error_t layout_parse_option(int key, char *text, struct argp_state *state)
{
	struct layout_options *options = state->input;

	switch (key) {
	case KEY_FILE:
		options->file = text;
		return 0;
	case KEY_FORMAT:
		options->format = argument_word(state, "format", text, format_words);
		return 0;
	case 'o':
		options->output = text;
		return 0;
	case KEY_READ_AHEAD:
		options->readahead = argument_size(state, "read-ahead", text, 0, READ_AHEAD_MAX);
		if (options->readahead % page_size())
			usage(state, "--read-ahead: %s is not a multiple of the page size", text);
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
		named_files_output(state, "--output", options->output);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp layout_argp = {
	.options = argp_options,
	.parser = layout_parse_option,
	.args_doc = "RECORDING",
	.doc = "Prints the functions on the code pages that the program touched, in the order of the "
	       "first touches, for a linker that places them in this order."
	       "\vThe recording is one by 'pfdrive record --exact'. Compile with "
	       "-ffunction-sections. Nothing is run or changed.",
};

static int cmd_layout(int argc, char **argv)
{
	struct layout_options options = { .readahead = UINT64_MAX };
	struct layout *layout;
	int status, err;

	argp_parse(&layout_argp, argc, argv, 0, NULL, &options);
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		return message(STATUS_FAILED, "out of memory");
	layout->options = options;
	signals_init();
	/* Nothing here needs the privileges from sudo. */
	err = invoker_become();
	if (err)
		status = message(STATUS_FAILED, "cannot become %s: %s", invoker_name(),
				 strerror(-err));
	else
		status = layout_make(layout);
	if (!status)
		status = write_order(layout);
	if (!status && options.output)
		status = print_layout(stdout, layout);
	layout_exit(layout);
	free(layout);
	return status;
}

const struct subcommand layout_command = {
	.name = "layout",
	.title = "pfdrive layout",
	.group = COMMAND_EXPLAIN,
	.summary = "order functions for a linker by their first touch",
	.run = cmd_layout,
	.argp = &layout_argp,
};
