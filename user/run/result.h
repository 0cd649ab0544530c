/* SPDX-License-Identifier: GPL-2.0-only */
/* A report, and everything it points to. It outlives the measurement that made it. */
#ifndef PFSTAT_USER_RESULT_H
#define PFSTAT_USER_RESULT_H

#include <stdbool.h>
#include <sys/types.h>

#include "analyze/analysis.h"
#include "collect/perf_counters.h"
#include "model/counters.h"
#include "report/report.h"
#include "system/cpus.h"
#include "workload/mapping.h"

/*
 * Additional measurements for a run: the processor's counters, the memory map, and tables that the
 * report prints only on request. Opened before the run, started and ended around the access loop.
 */

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

struct result {
	struct report report;
	struct report_study *study; /* what report.extras points to, NULL if there was none */
	struct analysis *analysis;
	struct run_counters counters;
	struct extras extras;
	bool filled; /* the report is filled */
	/* The recording lacks items or the end, as was reported. The report has the whole run. */
	bool recording_failed;
	char damage[512]; /* why the measurement is incomplete, "" if complete */
};

/* Everything is unknown or empty. */
void result_init(struct result *result);
/* The source's counts must match the source's records. If they do not, no figure can be trusted. */
int result_check(const struct result *result, unsigned int number);
/*
 * STATUS_FAILED if the recording failed. This is the status for a command whose report was printed.
 */
int result_status(const struct result *result);
void result_free(struct result *result);

#endif
