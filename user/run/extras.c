// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "run/extras.h"
#include "system/proc_smaps.h"

enum key {
	KEY_COUNTERS = 3000,
	KEY_SIMULATE,
	KEY_SHOW_MAPS,
	KEY_RUSAGE,
	KEY_SYSCALLS,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "What is measured beside the faults:", 7 },
	{ "counters", KEY_COUNTERS, NULL, 0,
	  "the processor's counts of L1D and dTLB accesses and misses", 7 },
	{ "simulate-cache", KEY_SIMULATE, NULL, 0,
	  "the loop under valgrind's cachegrind, with the study's caches", 7 },
	{ "rusage", KEY_RUSAGE, NULL, 0, "getrusage(2) beside what eBPF saw of the same", 7 },
	{ "syscalls", KEY_SYSCALLS, NULL, 0, "system calls as strace -c lists them", 7 },
	{ "show-maps", KEY_SHOW_MAPS, NULL, 0, "the memory map after the run, explained", 7 },
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct measure_options *options = state->input;

	(void)text;
	switch (key) {
	case KEY_COUNTERS:
		options->counters = true;
		return 0;
	case KEY_SIMULATE:
		options->simulate = true;
		return 0;
	case KEY_SHOW_MAPS:
		options->maps = true;
		return 0;
	case KEY_RUSAGE:
		options->usage = true;
		return 0;
	case KEY_SYSCALLS:
		options->syscalls = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp measure_argp = { .options = argp_options, .parser = parse_option };

int measure_open(struct measure *measure, const struct measure_options *options, int cpu)
{
	int err;

	*measure = (struct measure){ 0 };
	if (!options->counters)
		return 0;
	measure->counters.l1d_bytes = cpu_cache_l1d_bytes(cpu, NULL);
	err = cpu_cache_walk_open(&measure->walk, measure->counters.l1d_bytes);
	if (err)
		return err;
	measure->counters.walked_bytes = measure->walk.bytes;
	return hardware_open(&measure->hardware, &measure->counters, hardware_choose_cache);
}

void measure_prepare(const struct measure *measure)
{
	cpu_cache_walk(&measure->walk);
}

static int read_maps(struct measure *measure, const struct mapping *mapping)
{
	int err = smaps_read(&measure->maps, getpid());

	if (err)
		return err;
	measure->maps.measured.start = (uintptr_t)mapping->data;
	measure->maps.measured.end = (uintptr_t)mapping->data + mapping->bytes;
	map_list_explain(&measure->maps);
	return 0;
}

int measure_gather(struct measure *measure, const struct measure_options *options,
		   const struct mapping *mapping, struct measures *measures)
{
	int err = 0;

	measures->print_usage = options->usage;
	measures->print_syscalls = options->syscalls;
	if (options->counters) {
		err = hardware_read(measure->hardware);
		/* The next run's counters need not take turns with these. */
		hardware_close(measure->hardware);
		measure->hardware = NULL;
		measures->counters = &measure->counters;
	}
	if (!err && options->maps) {
		err = read_maps(measure, mapping);
		measures->maps = &measure->maps;
	}
	return err;
}

void measure_close(struct measure *measure)
{
	hardware_close(measure->hardware);
	cpu_cache_walk_close(&measure->walk);
	map_list_exit(&measure->maps);
	*measure = (struct measure){ 0 };
}
