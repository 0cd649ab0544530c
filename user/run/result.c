// SPDX-License-Identifier: GPL-2.0-only
/*
 * The outcome of one measurement. A run, a watch or a study fills it through run/measurement.c, and
 * the printers read the report.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/result.h"
#include "system/proc_maps.h"
#include "util/message.h"

/*
 * Opens and reads the additional measurements of a run, which the report prints next to the faults.
 */

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

static void extras_close(struct extras *extras)
{
	perf_hardware_close(extras->hardware);
	cpu_cache_walk_close(&extras->walk);
	map_list_exit(&extras->maps);
	*extras = (struct extras){ 0 };
}

void result_init(struct result *result)
{
	*result = (struct result){ 0 };
	report_init(&result->report);
	run_counters_init(&result->counters);
}

int result_check(const struct result *result, unsigned int number)
{
	const struct report *report = &result->report;
	struct summary_figures figures;

	summary_figures(report->summary, &figures);
	/* perf counts no calls. */
	if (report->cost.calls == COUNT_NA ||
	    figures.calls + report->losses.records == report->cost.calls)
		return STATUS_OK;
	return message(STATUS_FAILED,
		       "run %u: the module counted %" PRIu64 " calls, but %" PRIu64
		       " records were read and %" PRIu64
		       " lost; do not trust these figures, and report a bug",
		       number, report->cost.calls, figures.calls, report->losses.records);
}

int result_status(const struct result *result)
{
	return result->recording_failed ? STATUS_FAILED : STATUS_OK;
}

void result_free(struct result *result)
{
	report_exit(&result->report);
	if (result->study)
		result->study->free(result->study);
	extras_close(&result->extras);
	analysis_free(result->analysis);
	run_counters_exit(&result->counters);
}
