/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Additional measurements for a run: the processor's counters, the memory map, and tables that the
 * report prints only on request. Opened before the run, started and ended around the access loop.
 */
#ifndef PFSTAT_USER_EXTRAS_H
#define PFSTAT_USER_EXTRAS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/perf_hardware.h"
#include "report/report.h"
#include "system/cpu_cache.h"
#include "workload/mapping.h"

struct extras_options {
	bool counters, simulate, maps, usage, syscalls;
};

/* The state for one run. All zero: no additional measurement. */
struct extras {
	struct hw_counts counters;
	struct perf_hardware *hardware;
	struct cpu_cache_walk walk;
	struct map_list maps;
};

/* cpu: where the loop runs. 0 or a negative errno. */
int extras_open(struct extras *extras, const struct extras_options *options, int cpu);
/* Before anything is measured: L1D is emptied. */
void extras_prepare(const struct extras *extras);
/* Around the loop only. */
static inline void extras_begin(const struct extras *extras)
{
	perf_hardware_begin(extras->hardware);
}

static inline void extras_end(const struct extras *extras)
{
	perf_hardware_end(extras->hardware);
}

/*
 * After the loop, while the file is still mapped and hooked. Points the report's measures to the
 * results, which extras_close() frees.
 */
int extras_gather(struct extras *extras, const struct extras_options *options,
		  const struct mapping *mapping, struct report_extras *measures);
void extras_close(struct extras *extras);

#endif
