// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive prefetch: makes a list of the pages needed by a program start from recordings of such
 * starts, reads the list into the page cache, does that and then starts the program, or exports the
 * list for an image format.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prefetch/prefetch.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "privilege/output.h"
#include "system/own_process.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/json_value.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"

/*
 * The text printed by pfdrive prefetch make: which pages the recordings needed, which of them they
 * could not see, and the size-benefit curve.
 */

static double mib(double bytes)
{
	return bytes / (1 << 20);
}

static void print_sum(struct grid *grid, const struct prefetch_sum *sum,
		      const struct prefetch_sum *all)
{
	const double time = sum->fault_ns + sum->read_ns, total = all->fault_ns + all->read_ns;

	grid_cell(grid, "%.1f", mib((double)sum->pages * page_size()));
	grid_cell(grid, "%" PRIu64, sum->extents);
	grid_cell(grid, "%.3f", (double)sum->fault_ns / MILLISECOND);
	grid_cell(grid, "%.3f", (double)sum->read_ns / MILLISECOND);
	if (total > 0)
		grid_cell(grid, "%.1f%%", 100 * time / total);
	else
		grid_cell(grid, "-");
}

static int print_curve(FILE *out, const struct prefetch_made *made)
{
	static const char *const headings[] = { "<Part",      ">Size MiB",   ">Extents",
						">Faults ms", ">read(2) ms", ">Avoided" };
	static const unsigned int percents[] = PREFETCH_CURVE;
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < PREFETCH_CURVE_NR; i++) {
		grid_row(&grid);
		grid_cell(&grid, "for %u%%", percents[i]);
		print_sum(&grid, &made->curve[i], &made->all);
	}
	grid_row(&grid);
	grid_cell(&grid, "all pages");
	print_sum(&grid, &made->all, &made->all);
	if (made->kept.extents != made->all.extents) {
		grid_row(&grid);
		grid_cell(&grid, "--max-size");
		print_sum(&grid, &made->kept, &made->all);
	}
	return grid_close(&grid, out);
}

/* The list of an ordinary recording has pages that may not be used. */
static void print_exact(FILE *out, const struct prefetch_made *made)
{
	fprintf(out, "Exact recordings: %u of %u\n", made->exact, made->runs);
	if (made->around)
		fprintf(out,
			"Mapped around a fault: %" PRIu64
			" pages, which the program may not have touched; record with --exact for a "
			"list without these.\n",
			made->around);
}

/* The pages missing in the list, and why. */
static void print_gaps(FILE *out, const struct prefetch_made *made)
{
	if (made->without_requests)
		fprintf(out,
			"Recordings without eBPF: %u. They lack the files that only read(2) read, "
			"and may lack pages of others.\n",
			made->without_requests);
	if (made->of_perf)
		fprintf(out,
			"Recordings by perf: %u. They have only each fault's page, not those "
			"that it read or mapped around this page, which eBPF (as root) records.\n",
			made->of_perf);
	if (made->cached)
		fprintf(out,
			"Cached before: %" PRIu64 " pages that faulted were in the page cache when "
			"the recordings began; other cached pages may be missing.\n",
			made->cached);
	if (made->unnamed_files)
		fprintf(out,
			"Without a path: %" PRIu64 " files, %" PRIu64 " pages: no mapping names "
			"them, and no folder has their inode.\n",
			made->unnamed_files, made->unnamed_pages);
	if (made->changed_files)
		fprintf(out, "Gone or changed since: %" PRIu64 " files.\n", made->changed_files);
}

int prefetch_report_made(FILE *out, const struct prefetch_made *made, const char *path)
{
	const struct prefetch_sum *kept = &made->kept, *all = &made->all;
	int err;

	fprintf(out,
		"Recordings: %u; pages needed by at least %u of them: %" PRIu64 " of %" PRIu64 "\n",
		made->runs, made->min_runs, all->pages, made->pages_seen);
	print_exact(out, made);
	print_gaps(out, made);
	fputc('\n', out);
	err = print_curve(out, made);
	fprintf(out, "\nList: %.1f MiB in %" PRIu64 " extents of %zu files, in %s\n",
		mib(kept->pages * page_size()), kept->extents, made->list.nr_files, path);
	if (kept->extents != all->extents)
		fprintf(out, "Cut by --max-size: %.1f MiB in %" PRIu64 " extents\n",
			mib((all->pages - kept->pages) * page_size()),
			all->extents - kept->extents);
	if (err)
		return err;
	errno = 0;
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}

static int prefetch_report_read(FILE *out, const struct prefetch_result *result)
{
	fprintf(out, "%.1f MiB of %" PRIu64 " files are in the page cache, after %.3f s",
		mib(result->bytes), result->files, (double)result->elapsed_ns / SECOND);
	if (result->left_out)
		fprintf(out, "; left out: %" PRIu64 " files", result->left_out);
	fputc('\n', out);
	errno = 0;
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}

enum prefetch_action {
	PREFETCH_MAKE,
	PREFETCH_APPLY,
	PREFETCH_RUN,
	PREFETCH_EXPORT,
	PREFETCH_NO_ACTION
};

struct prefetch_options {
	enum prefetch_action action;
	const char *list;   /* for apply, run and export */
	const char *output; /* for make and export */
	const char *root;   /* for export; NULL: not given */
	char *recordings[PREFETCH_RUNS_MAX];
	unsigned int runs;
	unsigned int min_runs; /* 0: not given */
	uint64_t max_bytes;    /* UINT64_MAX: not given */
	unsigned int threads;  /* 0: not given */
	char *const *command;
};

enum key {
	KEY_MAX_SIZE = 3000,
	KEY_MIN_RUNS,
	KEY_THREADS,
	KEY_ROOT,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "make and export:", 1 },
	{ "output", 'o', "FILE", 0, "write the list to FILE", 1 },
	{ "root", KEY_ROOT, "DIR", 0, "export: the root of the image (default /)", 1 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0,
	  "keep only the extents that avoid most time for their size, up to SIZE bytes", 1 },
	{ "min-runs", KEY_MIN_RUNS, "K", 0,
	  "take the pages that at least K recordings need (default: more than half)", 1 },
	{ NULL, 0, NULL, 0, "apply and run:", 2 },
	{ "threads", KEY_THREADS, "N", 0, "read with N threads (default 8)", 2 },
	{ 0 },
};

static void prefetch_take_action(struct prefetch_options *options, const struct argp_state *state,
				 const char *word)
{
	static const char *const words[] = { "make", "apply", "run", "export" };
	int action;

	for (action = PREFETCH_MAKE; action < PREFETCH_NO_ACTION; action++)
		if (!strcmp(word, words[action]))
			break;
	if (action == PREFETCH_NO_ACTION)
		usage(state, "'%s' is not one of make, apply, run and export", word);
	options->action = action;
}

static void prefetch_take_argument(struct prefetch_options *options, struct argp_state *state,
				   char *text)
{
	if (options->action == PREFETCH_NO_ACTION) {
		prefetch_take_action(options, state, text);
	} else if (options->action == PREFETCH_MAKE) {
		if (options->runs == PREFETCH_RUNS_MAX)
			usage(state, "a list takes at most %u recordings; leave out '%s'",
			      PREFETCH_RUNS_MAX, text);
		if (!strcmp(text, "-"))
			usage(state, "cannot use standard input; name the recordings");
		options->recordings[options->runs++] = text;
	} else if (!options->list) {
		options->list = text;
	} else if (options->action != PREFETCH_RUN) {
		usage(state, "unexpected argument '%s'; give one LIST", text);
	} else {
		options->command = state->argv + state->next - 1;
		state->next = state->argc;
	}
}

static void prefetch_check_make(const struct prefetch_options *options,
				const struct argp_state *state)
{
	unsigned int i;

	if (!options->runs)
		usage(state, "no recording was given; see --help");
	if (!options->output)
		usage(state, "no list was named; use --output FILE");
	if (options->threads || options->root)
		usage(state, "--threads is for apply and run, and --root for export");
	if (options->min_runs > options->runs)
		usage(state, "--min-runs %u exceeds the %u recordings", options->min_runs,
		      options->runs);
	for (i = 0; i < options->runs; i++)
		named_files_input(state, "the recording", options->recordings[i]);
	named_files_output(state, "--output", options->output);
}

static void prefetch_check_export(const struct prefetch_options *options,
				  const struct argp_state *state)
{
	if (!options->list)
		usage(state, "no LIST was given; see --help");
	if (!options->output)
		usage(state, "no output was named; use --output FILE");
	if (options->threads || options->min_runs || options->max_bytes != UINT64_MAX)
		usage(state, "--threads, --max-size and --min-runs are not for export");
	named_files_input(state, "the list", options->list);
	named_files_output(state, "--output", options->output);
}

static void prefetch_check(const struct prefetch_options *options, const struct argp_state *state)
{
	if (options->action == PREFETCH_NO_ACTION)
		usage(state, "no action was given; choose from make, apply, run and export");
	if (options->action == PREFETCH_MAKE) {
		prefetch_check_make(options, state);
		return;
	}
	if (options->action == PREFETCH_EXPORT) {
		prefetch_check_export(options, state);
		return;
	}
	if (options->output || options->min_runs || options->max_bytes != UINT64_MAX ||
	    options->root)
		usage(state, "--output, --max-size, --min-runs and --root are for make and export");
	if (!options->list)
		usage(state, "no LIST was given; see --help");
	if (options->action == PREFETCH_RUN && !options->command)
		usage(state, "no COMMAND was given; see --help");
}

static error_t prefetch_parse_option(int key, char *text, struct argp_state *state)
{
	struct prefetch_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = text;
		return 0;
	case KEY_MAX_SIZE:
		options->max_bytes =
			argument_size(state, "max-size", text, page_size(), 1ULL << 50);
		return 0;
	case KEY_MIN_RUNS:
		options->min_runs = argument_number(state, "min-runs", text, 1, PREFETCH_RUNS_MAX);
		return 0;
	case KEY_THREADS:
		options->threads = argument_number(state, "threads", text, 1, PREFETCH_THREADS_MAX);
		return 0;
	case KEY_ROOT:
		options->root = text;
		return 0;
	case ARGP_KEY_ARG:
		prefetch_take_argument(options, state, text);
		return 0;
	case ARGP_KEY_END:
		prefetch_check(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp prefetch_argp = {
	.options = argp_options,
	.parser = prefetch_parse_option,
	.args_doc = "make RECORDING... -o LIST\napply LIST\nrun LIST [--] COMMAND [ARGUMENT...]\n"
		    "export LIST -o FILE",
	.doc = "Makes a list of the file parts that a program's start needs, and reads "
	       "them into the page cache before the start.\v"
	       "Record with a cold page cache, since cached pages leave no trace. run "
	       "reads the list completely, and then executes COMMAND. export writes the list for "
	       "'nydusify optimize --prefetch-files'. Exit status of apply: 3, if "
	       "a file is missing or changed; of run: COMMAND's. Requires neither root nor "
	       "the module.",
};

static int prefetch_write_list(const struct prefetch_made *made, const char *path)
{
	struct output *output;
	int err = output_open(&output, path);

	if (!err) {
		prefetch_list_write(output_stream(output), &made->list);
		err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int prefetch_do_make(const struct prefetch_options *options)
{
	const struct prefetch_wish wish = {
		.recordings = options->recordings,
		.runs = options->runs,
		.min_runs = options->min_runs,
		.max_bytes = options->max_bytes,
	};
	struct prefetch_made made;
	int status, err;

	status = prefetch_make(&made, &wish);
	if (!status && !made.all.extents)
		status = message(STATUS_FAILED, "cannot make a list: the recordings have no page "
						"of an existing file; record the start with a "
						"cold page cache");
	if (!status)
		status = prefetch_write_list(&made, options->output);
	if (!status) {
		err = prefetch_report_made(stdout, &made, options->output);
		status = err ? message_of_stdout(err, "the size-benefit curve") : STATUS_OK;
	}
	prefetch_made_exit(&made);
	return status;
}

static int prefetch_do_read(const struct prefetch_options *options, struct prefetch_result *result)
{
	struct prefetch_list list;
	int status = prefetch_read_list(&list, options->list);

	if (!status)
		status = prefetch_read(&list, options->threads ?: PREFETCH_THREADS_DEFAULT, result);
	prefetch_list_exit(&list);
	return status;
}

static int prefetch_do_apply(const struct prefetch_options *options)
{
	struct prefetch_result result;
	int status = prefetch_do_read(options, &result), err;

	if (status)
		return status;
	err = prefetch_report_read(stdout, &result);
	if (err)
		return message_of_stdout(err, "the result");
	return result.left_out ? STATUS_MISSING : STATUS_OK;
}

/* Files left out do not keep the program from starting. */
static int prefetch_do_run(const struct prefetch_options *options)
{
	struct prefetch_result result;
	int status = prefetch_do_read(options, &result);

	if (status)
		return status;
	signals_default();
	fd_limit_restore();
	execvp(options->command[0], options->command);
	return message(errno == ENOENT ? 127 : 126, "cannot execute %s: %s", options->command[0],
		       strerror(errno));
}

static int prefetch_write_export(const struct prefetch_list *list, const char *root,
				 const char *path)
{
	uint64_t left_out;
	json_t *exported = prefetch_export_nydus(list, root, &left_out);
	struct output *output;
	int err;

	if (!exported)
		return message(STATUS_FAILED, "out of memory");
	if (left_out == list->nr_files) {
		json_decref(exported);
		return message(STATUS_FAILED, "cannot export the list: no file of it is below %s",
			       root);
	}
	err = output_open(&output, path);
	if (err) {
		json_decref(exported);
	} else {
		err = value_print(output_stream(output), exported);
		err = output_commit(output) ?: err;
	}
	if (err)
		return message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err));
	printf("%zu files in %s; left out: %" PRIu64 " files not below %s\n",
	       list->nr_files - left_out, path, left_out, root);
	err = fflush(stdout) ? -errno : 0;
	return err ? message_of_stdout(err, "the result") : STATUS_OK;
}

static int prefetch_do_export(const struct prefetch_options *options)
{
	const char *given = options->root ?: "/";
	char root[PATH_MAX];
	struct prefetch_list list;
	int status;

	if (!realpath(given, root))
		return message(STATUS_FAILED, "cannot open %s: %s", given, strerror(errno));
	status = prefetch_read_list(&list, options->list);
	if (!status)
		status = prefetch_write_export(&list, root, options->output);
	prefetch_list_exit(&list);
	return status;
}

static int cmd_prefetch(int argc, char **argv)
{
	struct prefetch_options options = {
		.action = PREFETCH_NO_ACTION,
		.max_bytes = UINT64_MAX,
	};
	int err;

	argp_parse(&prefetch_argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	signals_init();
	/* Nothing here needs the privileges from sudo. */
	err = invoker_become();
	if (err)
		return message(STATUS_FAILED, "cannot become %s: %s", invoker_name(),
			       strerror(-err));
	switch (options.action) {
	case PREFETCH_MAKE:
		return prefetch_do_make(&options);
	case PREFETCH_APPLY:
		return prefetch_do_apply(&options);
	case PREFETCH_EXPORT:
		return prefetch_do_export(&options);
	default:
		return prefetch_do_run(&options);
	}
}

const struct subcommand prefetch_command = {
	.name = "prefetch",
	.title = "pfdrive prefetch",
	.group = COMMAND_MEASURE,
	.summary = "read the pages of a start ahead of it",
	.run = cmd_prefetch,
	.argp = &prefetch_argp,
};
