// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive study io: makes the files, moves their bytes by each method in each state of the page
 * cache, and prints what the methods cost.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/io/io_report.h"
#include "bench/pfbench.h"
#include "system/cpus.h"
#include "system/machine.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "workload/file_cache.h"
#include "workload/pattern.h"

#define WAYS_MAX  32
#define FILES_MAX 900 /* all are open at once, and the usual limit is 1024 */

struct via_options {
	struct io_method methods[WAYS_MAX + 2]; /* mmap adds two before the limit is checked */
	unsigned int nr_methods;
	bool caches[NR_IO_CACHES];
	unsigned int nr_files;
	uint64_t file_bytes;
	const char *folder;
	unsigned int repeats;
	bool json;
	bool bpf;
};

struct via {
	struct via_options options;
	struct io_files files;
	struct cpus cpus;
	struct io_row *rows;
	struct result *results; /* a row each */
	unsigned int nr_rows;
	unsigned int nr_fit; /* files fitting into the cache, or 0 without --cache fit */
	uint64_t passes;     /* so far */
};

enum key {
	KEY_FORMAT = 'f',
	KEY_REPEAT = 'r',
	KEY_CACHE = 'c',
	KEY_FILES = 1000,
	KEY_FILE_SIZE,
	KEY_SCRATCH_DIR,
	KEY_NO_BPF,
};

static const struct argp_option argp_options[] = {
	{ "files", KEY_FILES, "N", 0, "number of files (default 25)", 1 },
	{ "file-size", KEY_FILE_SIZE, "SIZE", 0, "file size (default 10M)", 1 },
	{ "scratch-dir", KEY_SCRATCH_DIR, "DIR", 0,
	  "folder for the files (default: the current one)", 1 },
	{ "cache", KEY_CACHE, "cold|warm|fit", 0,
	  "page cache state before a pass; may be repeated (default: all)", 1 },
	{ "repeat", KEY_REPEAT, "N", 0, "number of passes per method (default 5)", 1 },
	{ "format", KEY_FORMAT, "table|json", 0, "standard output format (default table)", 2 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0, "run without eBPF; system calls are then n/a", 2 },
	{ 0 },
};

static uint64_t file_size_of(const struct argp_state *state, const char *text)
{
	const uint64_t size =
		argument_size(state, "file-size", text, page_size(), MAPPING_MAX_BYTES);

	if (size % page_size())
		usage(state,
		      "--file-size: '%s' is not a multiple of the page size, %" PRIu64 " bytes",
		      text, page_size());
	return size;
}

static void add_way(const struct argp_state *state, struct via_options *options, const char *text)
{
	int err;

	err = io_method_parse(text, options->methods, &options->nr_methods);
	if (err == -EINVAL)
		usage(state, "invalid method '%s': SIZE must be a multiple of %u bytes, at most 1G",
		      text, IO_WORD);
	if (err)
		usage(state, "unknown method '%s'; choose from %s", text, IO_METHOD_NAMES);
	if (options->nr_methods > WAYS_MAX)
		usage(state,
		      "at most %d methods can be given, and mmap counts twice; leave out '%s'",
		      WAYS_MAX, text);
}

static error_t study_io_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const caches[NR_IO_CACHES + 1] = IO_CACHE_NAMES;
	static const char *const formats[] = { "table", "json", NULL };
	struct via_options *options = state->input;

	switch (key) {
	case KEY_FILES:
		options->nr_files = argument_number(state, "files", text, 1, FILES_MAX);
		return 0;
	case KEY_FILE_SIZE:
		options->file_bytes = file_size_of(state, text);
		return 0;
	case KEY_SCRATCH_DIR:
		options->folder = text;
		return 0;
	case KEY_CACHE:
		options->caches[argument_word(state, "cache", text, caches)] = true;
		return 0;
	case KEY_REPEAT:
		options->repeats = argument_number(state, "repeat", text, 1, 10000);
		return 0;
	case KEY_FORMAT:
		options->json = argument_word(state, "format", text, formats);
		return 0;
	case KEY_NO_BPF:
		options->bpf = false;
		return 0;
	case ARGP_KEY_ARG:
		add_way(state, options, text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The study's defaults: a mapping, and blocks of 512 bytes. */
static void study_io_add_defaults(struct via_options *options)
{
	const bool any = options->caches[IO_COLD] || options->caches[IO_WARM] ||
			 options->caches[IO_FIT];
	unsigned int i;

	for (i = 0; i < NR_IO_CACHES && !any; i++)
		options->caches[i] = true;
	if (options->nr_methods)
		return;
	io_method_parse("mmap", options->methods, &options->nr_methods);
	io_method_parse("read:512", options->methods, &options->nr_methods);
	io_method_parse("write:512", options->methods, &options->nr_methods);
}

static const struct argp study_io_argp = {
	.options = argp_options,
	.parser = study_io_parse_option,
	.args_doc = "[METHOD...]",
	.doc = "Reads and writes files with mmap(2), read(2) and write(2), and compares the time "
	       "and the events. A METHOD is one of " IO_METHOD_NAMES
	       " (default: mmap read:512 write:512).\vThe files are made for this, and removed "
	       "afterwards. Numbers take the suffixes K, M and G (1024). Requires root; the "
	       "pfstat module is used if it is loaded.",
};

static void study_io_parse(struct via_options *options, int argc, char **argv)
{
	*options = (struct via_options){
		.nr_files = 25,
		.file_bytes = 10 << 20,
		.folder = ".",
		.repeats = 5,
		.bpf = true,
	};
	argp_parse(&study_io_argp, argc, argv, 0, NULL, options);
	study_io_add_defaults(options);
}

/* If a folder cannot be opened, making the files fails. */
static int check_folder(const struct via_options *options)
{
	int fd = open(options->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool memory = options->caches[IO_COLD] && fd >= 0 && file_cache_is_all(fd);

	if (fd >= 0)
		close(fd);
	return memory ? message(STATUS_FAILED,
				"%s is on a tmpfs, which has no disk; name another --scratch-dir",
				options->folder) :
			STATUS_OK;
}

static int study_io_make_files(struct via *via)
{
	const struct via_options *options = &via->options;
	int err, status = check_folder(options);

	if (status)
		return status;
	err = io_files_make(&via->files, options->folder, options->nr_files, options->file_bytes,
			    &signals_caught);
	if (!err)
		return STATUS_OK;
	if (err == -EINTR && signals_caught)
		return 128 + signals_caught;
	if (err == -ENOSPC)
		return message(STATUS_FAILED,
			       "the disk of %s has no room for %u files of %" PRIu64
			       " bytes; use fewer files or another --scratch-dir",
			       options->folder, options->nr_files, options->file_bytes);
	return message(STATUS_FAILED, "cannot make %u files of %" PRIu64 " bytes in %s: %s",
		       options->nr_files, options->file_bytes, options->folder, strerror(-err));
}

/* Shows progress if standard error is a terminal. */
static void study_io_show_progress(const struct via *via, const struct io_pass_plan *plan)
{
	static const char *const caches[NR_IO_CACHES] = IO_CACHE_NAMES;
	char name[64];

	if (!isatty(STDERR_FILENO))
		return;
	io_method_name(plan->method, name, sizeof(name));
	fprintf(stderr, "\r\033[K%s, %s: pass %" PRIu64 " of %u\r", caches[plan->cache], name,
		via->passes % (via->options.repeats + 1) + 1, via->options.repeats + 1);
}

static void study_io_end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* Each writing pass leaves a different word, and reading passes check this word. */
static int one_pass(struct via *via, struct io_pass_plan *plan, struct io_pass *pass,
		    struct result *watched)
{
	int status;

	study_io_show_progress(via, plan);
	plan->word = ++via->passes * 0x9e3779b97f4a7c15;
	status = watched ? io_pass_watched(plan, pass, watched) : io_pass_bare(plan, pass);
	if (!status && plan->method->write)
		io_files_hold(&via->files, plan->nr, plan->word);
	return status;
}

static int study_io_measure_row(struct via *via, struct io_row *row, struct result *result)
{
	struct io_pass_plan plan = {
		.method = &row->method,
		.files = &via->files,
		.nr = row->nr_files,
		.cache = row->cache,
		.bpf = via->options.bpf,
		.folder = via->options.folder,
		.cpus = &via->cpus,
	};
	int status;

	/* The watched pass is the first, so that errors appear before the long passes. */
	status = one_pass(via, &plan, &row->watched, result);
	row->seen = &result->report;
	while (!status && row->nr_passes < via->options.repeats) {
		status = one_pass(via, &plan, &row->passes[row->nr_passes], NULL);
		row->nr_passes += !status;
	}
	return status;
}

/* Chosen once, so all methods move the same bytes. */
static int choose_files(struct via *via)
{
	struct meminfo meminfo;

	if (!via->options.caches[IO_FIT])
		return STATUS_OK;
	meminfo_read(&meminfo);
	via->nr_fit = io_files_that_fit(&via->files, meminfo.available);
	if (via->nr_fit)
		return STATUS_OK;
	return message(
		STATUS_FAILED,
		"--cache fit: not even one %" PRIu64
		"-byte file fits into an eighth of the available memory; use a smaller --file-size",
		via->options.file_bytes);
}

static int study_io_add_row(struct via *via, const struct io_method *method, enum io_cache cache)
{
	struct io_row *row = &via->rows[via->nr_rows];
	struct result *result = &via->results[via->nr_rows];

	*row = (struct io_row){
		.method = *method,
		.cache = cache,
		.bytes = via->options.file_bytes,
		.nr_files = cache == IO_FIT ? via->nr_fit : via->files.nr,
	};
	row->passes = calloc(via->options.repeats, sizeof(*row->passes));
	if (!row->passes)
		return message(STATUS_FAILED, "out of memory");
	via->nr_rows++;
	return study_io_measure_row(via, row, result);
}

static int study_io_measure_all(struct via *via)
{
	const struct via_options *options = &via->options;
	enum io_cache cache;
	int status = STATUS_OK;
	unsigned int i;

	via->rows = calloc(options->nr_methods * NR_IO_CACHES, sizeof(*via->rows));
	via->results = calloc(options->nr_methods * NR_IO_CACHES, sizeof(*via->results));
	if (!via->rows || !via->results)
		return message(STATUS_FAILED, "out of memory");
	for (cache = 0; cache < NR_IO_CACHES; cache++)
		for (i = 0; i < options->nr_methods && !status && options->caches[cache]; i++)
			status = study_io_add_row(via, &options->methods[i], cache);
	return status;
}

static int study_io_print(const struct via *via)
{
	struct io_report report = {
		.folder = via->options.folder,
		.nr_files = via->files.nr,
		.file_bytes = via->options.file_bytes,
		.rows = via->rows,
		.nr_rows = via->nr_rows,
	};
	struct report empty;
	int err;

	report_init(&empty);
	report.environment = empty.environment;
	mapping_describe(&via->files.mappings[0], "", &report.environment);
	strcpy(report.environment.source, via->rows[0].seen->environment.source);
	err = via->options.json ? io_json(stdout, &report) : io_table(stdout, &report);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	return err ? message_of_stdout(err, "the results") : STATUS_OK;
}

static int cmd_study_io(int argc, char **argv)
{
	struct via via = { 0 };
	unsigned int i;
	int status, err;

	study_io_parse(&via.options, argc, argv);
	signals_init();
	err = cpus_read(&via.cpus);
	status = err ? message(STATUS_FAILED, "cannot read the CPU affinity: %s", strerror(-err)) :
		       study_io_make_files(&via);
	if (!status)
		status = choose_files(&via);
	if (!status)
		status = study_io_measure_all(&via);
	study_io_end_progress();
	if (!status)
		status = study_io_print(&via);
	for (i = 0; i < via.nr_rows; i++) {
		result_free(&via.results[i]);
		free(via.rows[i].passes);
	}
	free(via.rows);
	free(via.results);
	io_files_close(&via.files);
	return status;
}

const struct subcommand io_command = {
	.name = "study io",
	.title = "pfdrive study io",
	.group = COMMAND_STUDY,
	.summary = "compare mmap(2) with read(2) and write(2)",
	.run = cmd_study_io,
	.argp = &study_io_argp,
};
