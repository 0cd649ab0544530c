/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef PFSTAT_USER_COLLECTOR_H
#define PFSTAT_USER_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/events.h"
#include "collect/fault_source.h"
#include "collect/perf_maps.h"
#include "model/item.h"
#include "system/cpus.h"

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

#endif
