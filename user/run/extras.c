// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens and reads the additional measurements of a run, which the report prints next to the faults.
 */
#include <unistd.h>

#include "run/extras.h"
#include "system/proc_smaps.h"

int extras_open(struct extras *extras, const struct extras_options *options, int cpu)
{
	int err;

	*extras = (struct extras){ 0 };
	if (!options->counters)
		return 0;
	extras->counters.l1d_bytes = cpu_cache_l1d_bytes(cpu, NULL);
	err = cpu_cache_walk_open(&extras->walk, extras->counters.l1d_bytes);
	if (err)
		return err;
	extras->counters.walked_bytes = extras->walk.bytes;
	return perf_hardware_open(&extras->hardware, &extras->counters, perf_hardware_choose_cache);
}

void extras_prepare(const struct extras *extras)
{
	cpu_cache_walk(&extras->walk);
}

static int extras_read_maps(struct extras *extras, const struct mapping *mapping)
{
	int err = proc_smaps_read(&extras->maps, getpid());

	if (err)
		return err;
	extras->maps.measured.start = (uintptr_t)mapping->data;
	extras->maps.measured.end = (uintptr_t)mapping->data + mapping->bytes;
	map_list_explain(&extras->maps);
	return 0;
}

int extras_gather(struct extras *extras, const struct extras_options *options,
		  const struct mapping *mapping, struct report_extras *measures)
{
	int err = 0;

	measures->print_usage = options->usage;
	measures->print_syscalls = options->syscalls;
	if (options->counters) {
		err = perf_hardware_read(extras->hardware);
		/* The next run's counters need not take turns with these. */
		perf_hardware_close(extras->hardware);
		extras->hardware = NULL;
		measures->counters = &extras->counters;
	}
	if (!err && options->maps) {
		err = extras_read_maps(extras, mapping);
		measures->maps = &extras->maps;
	}
	return err;
}

void extras_close(struct extras *extras)
{
	perf_hardware_close(extras->hardware);
	cpu_cache_walk_close(&extras->walk);
	map_list_exit(&extras->maps);
	*extras = (struct extras){ 0 };
}
