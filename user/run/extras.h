/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a drive measures beside its faults: the options, and what a run holds for
 * them. Opened before the run, begun and ended around the access loop.
 */
#ifndef PFSTAT_USER_EXTRAS_H
#define PFSTAT_USER_EXTRAS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/perf_hardware.h"
#include "report/report.h"
#include "system/cpu_cache.h"
#include "workload/mapping.h"

struct measure_options {
	bool counters, simulate, maps, usage, syscalls;
};

/* Of one run; all zero: nothing was asked for. */
struct measure {
	struct hw_counts counters;
	struct perf_hardware *hardware;
	struct cpu_cache_walk walk;
	struct map_list maps;
};

/* cpu: where the loop runs. 0 or a negative errno. */
int measure_open(struct measure *measure, const struct measure_options *options, int cpu);
/* Before anything is measured: L1D is emptied. */
void measure_prepare(const struct measure *measure);
/* Around the loop and nothing else. */
static inline void measure_begin(const struct measure *measure)
{
	perf_hardware_begin(measure->hardware);
}

static inline void measure_end(const struct measure *measure)
{
	perf_hardware_end(measure->hardware);
}

/*
 * The loop is over, the file still mapped and hooked. Points report's measures to
 * what was asked for, which measure_close() frees.
 */
int measure_gather(struct measure *measure, const struct measure_options *options,
		   const struct mapping *mapping, struct report_extras *measures);
void measure_close(struct measure *measure);

#endif
