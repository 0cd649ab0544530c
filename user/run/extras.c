// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "run/extras.h"
#include "system/proc_smaps.h"

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
	return perf_hardware_open(&measure->hardware, &measure->counters, perf_hardware_choose_cache);
}

void measure_prepare(const struct measure *measure)
{
	cpu_cache_walk(&measure->walk);
}

static int measure_read_maps(struct measure *measure, const struct mapping *mapping)
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
		   const struct mapping *mapping, struct report_extras *measures)
{
	int err = 0;

	measures->print_usage = options->usage;
	measures->print_syscalls = options->syscalls;
	if (options->counters) {
		err = perf_hardware_read(measure->hardware);
		/* The next run's counters need not take turns with these. */
		perf_hardware_close(measure->hardware);
		measure->hardware = NULL;
		measures->counters = &measure->counters;
	}
	if (!err && options->maps) {
		err = measure_read_maps(measure, mapping);
		measures->maps = &measure->maps;
	}
	return err;
}

void measure_close(struct measure *measure)
{
	perf_hardware_close(measure->hardware);
	cpu_cache_walk_close(&measure->walk);
	map_list_exit(&measure->maps);
	*measure = (struct measure){ 0 };
}
