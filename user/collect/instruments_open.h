/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of struct instruments, for instruments.c and instruments_open.c only. */
#ifndef PFSTAT_USER_INSTRUMENTS_OPEN_H
#define PFSTAT_USER_INSTRUMENTS_OPEN_H

#include "collect/all_faults.h"
#include "collect/collector.h"
#include "collect/fault_cost.h"
#include "collect/instruments.h"
#include "collect/perf_faults.h"
#include "collect/perf_maps.h"
#include "system/own_process.h"
#include "util/why.h"

struct instruments {
	struct instruments_options options;
	struct fault_source *source;
	struct events *events;
	struct all_faults faults;
	struct perf_maps *maps;
	struct perf_faults *counters;
	struct collector *collector;
	struct bpf_cost bpf_cost;
	struct priority priority; /* raised until the collector's thread is made */
	struct cpus cpus;
	char bpf_missing[256];		 /* see instruments_bpf_missing() */
	bool going;			 /* instruments_go() */
	int thread_err;			 /* see instruments_thread_err() */
	struct pfstat_mapping *mappings; /* when the watching begins, and when it ends */
	size_t nr_mappings;
};

/*
 * Opens the source and the instruments it needs. Returns 0, or a negative errno and a clause.
 * instruments_close() closes them in both cases.
 */
int instruments_open_all(struct instruments *instruments, struct why *why);

#endif
