// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the `pfdrive run' arguments into struct options. The memory and user options have their
 * own parsers, which are children of this one.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include <pfstat/control.h>
#include <pfstat/record.h>

#include "drive/run.h"
#include "print/print_report.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "run/watch_options.h"
#include "system/cpus.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/version.h"
#include "workload/pattern.h"

#define STRING(x)    #x
#define STRING_OF(x) STRING(x)

const char *argp_program_version = "pfdrive " PFDRIVE_VERSION
				   ", records of version " STRING_OF(PFSTAT_ABI_VERSION)
					   BUILT_WITHOUT;

enum key {
	KEY_ACCESSES = 'n',
	KEY_CACHE = 'c',
	KEY_FORMAT = 'f',
	KEY_PATTERN = 'p',
	KEY_REPEAT = 'r',
	KEY_SEED = 's',
	KEY_CPU = 256,
	KEY_FAULT_AROUND,
	KEY_JSON,
	KEY_NO_BPF,
	KEY_RING_SIZE,
	KEY_SOURCE,
	KEY_RECORD,
	KEY_SUBTRACT,
	KEY_WITH,
	KEY_FULL,
};

/* Items in --with. */
enum extra { EXTRA_HW, EXTRA_CACHEGRIND, EXTRA_RUSAGE, EXTRA_SYSCALLS, EXTRA_MAPS };

static const struct argp_option run_arguments[] = {
	{ NULL, 0, NULL, 0, "Accesses:", 1 },
	{ "pattern", KEY_PATTERN, "PATTERN", 0, PATTERN_NAMES_AND(" (default random)"), 1 },
	{ "accesses", KEY_ACCESSES, "N", 0,
	  "number of one-byte accesses (default: the number of bytes; locality: 2^33)", 1 },
	{ "seed", KEY_SEED, "N", 0, "random pattern seed (default 1)", 1 },
	{ "repeat", KEY_REPEAT, "N", 0, "number of runs (default 1; locality: 5)", 1 },
	{ NULL, 0, NULL, 0, "Conditions:", 5 },
	{ "cache", KEY_CACHE, "cold|warm", 0,
	  "page cache state before a run: no file page, or all (default "
	  "cold)",
	  5 },
	{ "fault-around", KEY_FAULT_AROUND, "keep|off", 0,
	  "off: each page faults separately (default keep)", 5 },
	{ "cpu", KEY_CPU, "N", 0, "run only on this CPU", 5 },
	SOURCE_OPTION(KEY_SOURCE, 5),
	{ NULL, 0, NULL, 0, "Output:", 6 },
	{ "format", KEY_FORMAT, "table|csv|json", 0, "standard output format (default table)", 6 },
	{ "json", KEY_JSON, "FILE", 0, "also write JSON to FILE", 6 },
	{ "full", KEY_FULL, NULL, 0, "print all tables, also those that are empty", 6 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0,
	  "run without eBPF; off-CPU times and system calls are then n/a", 6 },
	{ "record", KEY_RECORD, "FILE", 0, "also write a recording to FILE, for 'pfdrive report'",
	  6 },
	{ "subtract", KEY_SUBTRACT, NULL, 0,
	  "subtract the module's own time, as calibrated, from call times", 6 },
	{ "ring-size", KEY_RING_SIZE, "SIZE", 0, "each CPU's record ring size (default 4M)", 6 },
	{ NULL, 0, NULL, 0, "Extra measurements:", 7 },
	{ "with", KEY_WITH, "hw,cachegrind,rusage,syscalls,maps", 0,
	  "add tables. hw: L1D and dTLB accesses and misses, counted by the processor. "
	  "cachegrind: the loop under valgrind, with the study's caches. rusage: "
	  "getrusage(2) next to the eBPF counts. syscalls: system calls as strace -c lists "
	  "them. maps: the memory map after the run, explained",
	  7 },
	{ 0 },
};

static const char default_pattern[] = "random";

static void set_pattern(const struct argp_state *state, struct options *options, const char *text)
{
	const size_t room = sizeof(((struct environment *)0)->pattern);
	int err;

	if (options->pattern_text != default_pattern)
		usage(state, "--pattern was given twice, as '%s' and '%s'; give one",
		      options->pattern_text, text);
	err = strlen(text) < room ? pattern_parse(&options->pattern, text) : -ENOENT;
	if (err == -EINVAL)
		usage(state,
		      "--pattern: invalid pattern '%s'; choose from %s, with a SIZE such as 256K",
		      text, PATTERN_NAMES);
	if (err)
		usage(state, "--pattern: unknown pattern '%s'; choose from %s", text,
		      PATTERN_NAMES);
	options->pattern_text = text;
}

static void add_extras(const struct argp_state *state, struct extras_options *extras,
		       const char *text)
{
	static const char *const words[] = {
		[EXTRA_HW] = "hw",	   [EXTRA_CACHEGRIND] = "cachegrind",
		[EXTRA_RUSAGE] = "rusage", [EXTRA_SYSCALLS] = "syscalls",
		[EXTRA_MAPS] = "maps",	   NULL
	};
	const unsigned int items = argument_list(state, "with", text, words);

	extras->counters |= items & 1U << EXTRA_HW;
	extras->simulate |= items & 1U << EXTRA_CACHEGRIND;
	extras->usage |= items & 1U << EXTRA_RUSAGE;
	extras->syscalls |= items & 1U << EXTRA_SYSCALLS;
	extras->maps |= items & 1U << EXTRA_MAPS;
}

static void set_file(const struct argp_state *state, struct options *options, const char *file)
{
	if (options->file)
		usage(state, "unexpected argument '%s'; give one FILE", file);
	options->file = file;
}

static void check_arguments(const struct argp_state *state, const struct options *options)
{
	workload_check(state, &options->workload, options->file, options->pattern.store_share);
	source_option_check(state, options->source, options->bpf, options->fault_around);
	named_files_input(state, "FILE", options->file);
	named_files_output(state, "--json", options->json);
	named_files_recording(state, "--record", options->record);
	if (options->have_cache && options->workload.kind == MAPPING_ANON)
		usage(state, "--cache requires a file; --map anon has none");
	if (options->record && options->repeats > 1)
		usage(state, "--record: a recording holds one run, not %u; leave out --repeat",
		      options->repeats);
}

static void set_repeats(struct options *options)
{
	if (!options->repeats)
		options->repeats = options->record ? 1 : pattern_repeats(&options->pattern);
}

static error_t run_arguments_parse(int key, char *text, struct argp_state *state)
{
	static const char *const caches[] = { "cold", "warm", NULL };
	static const char *const around[] = { "keep", "off", NULL };
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->workload;
		return 0;
	case KEY_PATTERN:
		set_pattern(state, options, text);
		return 0;
	case KEY_ACCESSES:
		options->accesses = argument_number(state, "accesses", text, 1, UINT64_MAX);
		return 0;
	case KEY_SEED:
		options->seed = argument_number(state, "seed", text, 0, UINT64_MAX);
		return 0;
	case KEY_REPEAT:
		options->repeats = argument_number(state, "repeat", text, 1, 10000);
		return 0;
	case KEY_CACHE:
		options->warm = argument_word(state, "cache", text, caches);
		options->have_cache = true;
		return 0;
	case KEY_FAULT_AROUND:
		options->fault_around = !argument_word(state, "fault-around", text, around);
		return 0;
	case KEY_CPU:
		options->cpu = argument_number(state, "cpu", text, 0, CPUS_MAX - 1);
		return 0;
	case KEY_FORMAT:
		options->format = argument_word(state, "format", text, result_format_words);
		return 0;
	case KEY_JSON:
		options->json = text;
		return 0;
	case KEY_RECORD:
		options->record = text;
		return 0;
	case KEY_SUBTRACT:
		options->subtract = true;
		return 0;
	case KEY_FULL:
		options->full = true;
		return 0;
	case KEY_WITH:
		add_extras(state, &options->extras, text);
		return 0;
	case KEY_SOURCE:
		options->source = source_option_parse(state, text);
		return 0;
	case KEY_NO_BPF:
		options->bpf = false;
		return 0;
	case KEY_RING_SIZE:
		options->ring_size = argument_size(state, "ring-size", text, PFSTAT_RING_SIZE_MIN,
						   PFSTAT_RING_SIZE_MAX);
		return 0;
	case ARGP_KEY_ARG:
		set_file(state, options, text);
		return 0;
	case ARGP_KEY_SUCCESS:
		check_arguments(state, options);
		set_repeats(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child run_arguments_children[] = {
	{ &workload_argp, 0, NULL, 0 },
	{ &invoker_argp, 0, NULL, 0 },
	{ 0 },
};

const struct argp run_arguments_argp = {
	.options = run_arguments,
	.parser = run_arguments_parse,
	.children = run_arguments_children,
};

void run_arguments_init(struct options *options)
{
	*options = (struct options){
		.pattern_text = default_pattern,
		.seed = 1,
		.fault_around = true,
		.bpf = true,
		.cpu = -1,
		.format = REPORT_TABLE,
	};
	pattern_parse(&options->pattern, options->pattern_text);
}
