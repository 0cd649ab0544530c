/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings everything that is said of a run into one stream of items, in time order:
 *
 *	source's rings, a CPU each --+
 *	eBPF's rings, a CPU each ----+--> merged by the time at which each was over
 *	perf's buffers of mappings --+
 *
 * A thread sleeps until a ring is half full (or a tick), then drains all; so a run whose
 * records fit wakes nobody. Memory does not grow with the number of records:
 * they are read where they lie.
 */
#ifndef PFSTAT_USER_COLLECTOR_H
#define PFSTAT_USER_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/bpf_load.h"
#include "collect/fault_source.h"
#include "collect/perf_mmap.h"
#include "model/item.h"
#include "system/cpus.h"

struct collector;

struct collector_options {
	item_sink sink;			/* called in the thread, and in collector_stop() */
	void *sink_context;
	struct fault_source *source;	/* started, and open until the collector is closed */
	struct events *events;		/* NULL: no eBPF */
	struct perf_maps *maps;		/* NULL: mappings are not told */
	const struct cpus *cpus;	/* where the thread may run */
	int tick_ms;			/* -1: none */
	bool tick_drains;		/* what was said by then has passed the sink */
	void (*tick)(void *context);	/* called in the thread every tick_ms */
	void *tick_context;
	void (*failed)(void *context);	/* called in the thread when it ends by an error; or NULL */
	void *failed_context;
};

int collector_open(struct collector **collector, const struct collector_options *options);
void collector_close(struct collector *collector);

/* Starts the thread, all signals blocked in it. */
int collector_start(struct collector *collector);
/*
 * Ends the thread and drains what is left; nothing may be recorded any more.
 * Returns the first error since the start.
 */
int collector_stop(struct collector *collector);

#endif
