/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of struct instruments: only for instruments*.c and the collector. */
#ifndef PFSTAT_USER_INSTRUMENTS_OPEN_H
#define PFSTAT_USER_INSTRUMENTS_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/all_faults.h"
#include "collect/events.h"
#include "collect/fault_cost.h"
#include "collect/fault_source.h"
#include "collect/instruments.h"
#include "collect/perf_counters.h"
#include "collect/perf_maps.h"
#include "model/item.h"
#include "system/cpus.h"
#include "system/own_process.h"
#include "util/why.h"

/*
 * Merges all instruments' events into one stream, in time order:
 *
 *	source's rings, a CPU each --+
 *	eBPF's rings, a CPU each ----+--> merged by the time at which each ended
 *	perf's buffers of mappings --+
 *
 * A thread sleeps until a ring is half full (or a tick), then drains all rings, so it does not wake
 * up in a run whose records fit. Memory does not grow with the number of records: they are read in
 * place.
 */

struct collector;

struct collector_options {
	item_sink sink; /* called in the thread, and in collector_stop() */
	void *sink_context;
	struct fault_source *source; /* started, and open until the collector is closed */
	struct events *events;	     /* NULL: no eBPF */
	struct perf_maps *maps;	     /* NULL: mappings are not recorded */
	const struct cpus *cpus;     /* where the thread may run */
	int tick_ms;		     /* -1: none */
	bool tick_drains;	     /* first passes all events up to then to the sink */
	void (*tick)(void *context); /* called in the thread every tick_ms */
	void *tick_context;
	void (*failed)(void *context); /* called in the thread when an error ends it, or NULL */
	void *failed_context;
};

int collector_open(struct collector **collector, const struct collector_options *options);
void collector_close(struct collector *collector);

/* Starts the thread, all signals blocked in it. */
int collector_start(struct collector *collector);
/*
 * Ends the thread and drains the rest. The instruments must be stopped. Returns the first error
 * since the start.
 */
int collector_stop(struct collector *collector);
/* The source's fault records passed as events. Call after collector_stop(). */
uint64_t collector_faults(const struct collector *collector);

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
