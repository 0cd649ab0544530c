/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run for Perfetto's viewer. It is written while the run is streamed:
 *
 *	item  -> trace_print_item()	names of processes and threads; block requests, and
 *				off-CPU intervals outside of faults, as slices
 *	fault -> trace_print_fault()	a slice on its thread, its parts as slices in it, and an
 *				arrow from the request that it waited for; at the end, the
 *				longest ones again, each on a track of its own
 *
 * Slices on one track must nest. A device processes several requests at once, so each request goes
 * to the device's first free lane. Memory is bounded.
 */
#ifndef PFSTAT_USER_TRACE_PRINT_H
#define PFSTAT_USER_TRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/analysis.h"
#include "analyze/fault/explain.h"
#include "model/counters.h"
#include "model/item.h"
#include "print/trace/perfetto.h"

#define TRACE_MAX_DEVICES 64
#define TRACE_MAX_LANES	  1024 /* for each device; more concurrent requests are omitted */

struct trace_writer;

/* The caller still owns @out. 0 or a negative errno. */
int trace_print_begin(struct trace_writer **trace, uint64_t page_bytes, FILE *out);
/* The end of the trace has the longest faults again. Call it before the first fault. */
void trace_print_repeat_slowest(struct trace_writer *trace, unsigned int nr);
/* The faults come from this analysis. It names the last task or the handler of each wait. */
void trace_print_name_waits(struct trace_writer *trace, const struct analysis *analysis);
/* An item_sink. Call it before the analysis has the item, so that arrows find their requests. */
int trace_print_item(void *trace, const struct item *item);
/* An explain_sink. */
int trace_print_fault(void *trace, const struct explained *fault);
/* Completes the trace, and frees the writer in any case. */
int trace_print_end(struct trace_writer *trace, const struct trace_missing *missing);

/* The rest is trace_tracks.c, for trace_print.c. */

/*
 * Assigns block requests to lanes, so requests in one lane do not overlap. Keeps the lanes of the
 * last requests, where arrows to faults start.
 */

struct trace_lanes;

struct trace_lane {
	uint32_t dev;
	unsigned int device, number; /* index of the device, and of the lane in it, from 0 */
	bool fresh;		     /* the lane has no earlier request */
};

struct trace_lanes *trace_lanes_new(void);
void trace_lanes_free(struct trace_lanes *lanes);

/* A request's start: when it was queued, or else when it was issued. */
uint64_t trace_lanes_start(const struct pfstat_block *block);

/*
 * Call it in the order of the requests' ends. Returns 0, -ENOMEM, or -ENOSPC: too many devices, or
 * too many lanes for one device.
 */
int trace_lanes_put(struct trace_lanes *lanes, const struct pfstat_block *block,
		    struct trace_lane *lane);
/* Finds the lane of a request. False: it got no lane, or it was too long ago. */
bool trace_lanes_find(const struct trace_lanes *lanes, const struct pfstat_block *block,
		      struct trace_lane *lane);

/*
 * Off-CPU intervals as slices in their threads, except intervals inside a fault, which the fault's
 * parts show. A fault arrives after its intervals, so a thread's last intervals are kept until
 * then.
 */

struct trace_threads;

struct trace_threads *trace_threads_new(struct perfetto *perfetto);
/* Does not print the intervals still kept. */
void trace_threads_free(struct trace_threads *threads);

/* 0 or -ENOMEM. */
int trace_threads_off_cpu(struct trace_threads *threads, const struct pfstat_off_cpu *interval);
/* Call it before printing the fault's own slice. */
void trace_threads_fault(struct trace_threads *threads, const struct explained *fault);
/* Prints an exited thread's kept intervals. */
void trace_threads_end(struct trace_threads *threads, uint32_t tid);
/* Prints all threads' kept intervals. */
int trace_threads_finish(struct trace_threads *threads);

/*
 * Prints a fault's parts as slices in the fault's slice. Call it after the arguments of the fault's slice. @analysis: has just emitted the fault, and
 * names the tasks and handlers. NULL: the slices have no names.
 */
void trace_parts_print(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault);

#endif
