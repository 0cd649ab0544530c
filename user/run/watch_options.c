// SPDX-License-Identifier: GPL-2.0-only
/* The options that record and top share: the program to watch, and the instruments. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pfstat/control.h>

#include "collect/fault_source_bpf.h"
#include "collect/fault_source_module.h"
#include "collect/fault_source_perf.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "run/watch_options.h"
#include "util/argument.h"
#include "util/time_ns.h"

/* The words for --source, and the options with which a source cannot be combined. */

const struct fault_source_ops *source_option_parse(const struct argp_state *state, const char *text)
{
	static const struct fault_source_ops *const sources[] = {
		&fault_source_module,
		&fault_source_bpf,
		&fault_source_perf,
	};
	static const char *const words[] = { "module", "ebpf", "perf", NULL };

	return sources[argument_word(state, "source", text, words)];
}

void source_option_check(const struct argp_state *state, const struct fault_source_ops *source,
			 bool bpf, bool fault_around)
{
	if (!source || source == &fault_source_module)
		return;
	if (source == &fault_source_bpf && !bpf)
		usage(state, "--source ebpf requires eBPF; leave --no-bpf out");
	if (!fault_around)
		usage(state, "--fault-around off requires the module; leave --source %s out",
		      source->word);
}

#define SHORTEST_S 0.001
#define LONGEST_S  (365.0 * 24 * 3600)
#define MAX_PID	   4194304U

enum key {
	KEY_PID = 'p',
	KEY_DURATION = 'd',
	KEY_CGROUP = 1000,
	KEY_FILE,
	KEY_FAULT_AROUND,
	KEY_NO_BPF,
	KEY_NO_PAGES,
	KEY_STACKS,
	KEY_PERF_FAULTS,
	KEY_RING_SIZE,
	KEY_SOURCE,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Watched processes (or give a COMMAND):", 1 },
	{ "pid", KEY_PID, "PID", 0, "watch this process, and its children from now on", 1 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "watch the processes in this cgroup v2 folder", 1 },
	{ "file", KEY_FILE, "PATH", 0,
	  "record only faults on this file; if given alone: in all processes that map it now", 1 },
	{ "duration", KEY_DURATION, "SECONDS", 0, "stop after this time", 1 },
	{ NULL, 0, NULL, 0, "Instruments:", 2 },
	SOURCE_OPTION(KEY_SOURCE, 2),
	{ "fault-around", KEY_FAULT_AROUND, "keep|off", 0,
	  "off: each file page faults separately (default keep)", 2 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0,
	  "run without eBPF; only faults on hooked files are then seen, without parts", 2 },
	{ "no-pages", KEY_NO_PAGES, NULL, 0, "do not watch pages that leave the page cache", 2 },
	{ "stacks", KEY_STACKS, NULL, 0, "record each fault's user stack, for --by stack", 2 },
	{ "perf-faults", KEY_PERF_FAULTS, NULL, 0, "also count faults with perf", 2 },
	{ "ring-size", KEY_RING_SIZE, "SIZE", 0, "each CPU's record ring size (default 4M)", 2 },
	{ 0 },
};

static uint64_t duration_of(const struct argp_state *state, const char *text)
{
	return SECOND * argument_decimal(state, "duration", text, "a number of seconds", SHORTEST_S,
					 LONGEST_S);
}

static void check_targets(const struct argp_state *state, const struct watch_options *options)
{
	const int nr = !!options->command + !!options->pid + !!options->cgroup;

	if (nr > 1)
		usage(state, "give only one of COMMAND, --pid and --cgroup");
	if (!nr && !options->file)
		usage(state,
		      "nothing to watch was given; give a COMMAND, --pid, --cgroup or --file");
	if (options->instruments.events.stacks && !options->instruments.bpf &&
	    (options->instruments.source == &fault_source_module ||
	     !options->instruments.fault_around))
		usage(state, "--stacks requires eBPF or perf; leave --no-bpf out");
	source_option_check(state, options->instruments.source, options->instruments.bpf,
			    options->instruments.fault_around);
}

static error_t watch_options_parse(int key, char *text, struct argp_state *state)
{
	static const char *const around[] = { "keep", "off", NULL };
	struct watch_options *options = state->input;

	switch (key) {
	case KEY_PID:
		options->pid = argument_number(state, "pid", text, 1, MAX_PID);
		return 0;
	case KEY_CGROUP:
		options->cgroup = text;
		return 0;
	case KEY_FILE:
		options->file = text;
		return 0;
	case KEY_DURATION:
		options->duration_ns = duration_of(state, text);
		return 0;
	case KEY_FAULT_AROUND:
		options->instruments.fault_around =
			!argument_word(state, "fault-around", text, around);
		return 0;
	case KEY_NO_BPF:
		options->instruments.bpf = false;
		return 0;
	case KEY_SOURCE:
		options->instruments.source = source_option_parse(state, text);
		return 0;
	case KEY_NO_PAGES:
		options->instruments.events.pages = false;
		return 0;
	case KEY_STACKS:
		options->instruments.events.stacks = true;
		return 0;
	case KEY_PERF_FAULTS:
		options->instruments.no_counters = false;
		return 0;
	case KEY_RING_SIZE:
		options->instruments.ring_size = argument_size(state, "ring-size", text,
							       PFSTAT_RING_SIZE_MIN,
							       PFSTAT_RING_SIZE_MAX);
		return 0;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_SUCCESS:
		check_targets(state, options);
		named_files_input(state, "--file", options->file);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &invoker_argp, 0, NULL, 0 }, { 0 } };

const struct argp watch_argp = {
	.options = argp_options,
	.parser = watch_options_parse,
	.children = children,
};

void watch_options_init(struct watch_options *options)
{
	*options = (struct watch_options){
		.instruments = {
			.detach_later = true,
			.whole_faults = true,
			.bpf = true,
			.bpf_missing = "--no-bpf was given",
			.events = { .pages = true },
			.no_counters = true,
			.fault_around = true,
			.tick_ms = -1,
		},
	};
}
