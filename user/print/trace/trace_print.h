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
#include <stdio.h>

#include <pfstat/event.h>

#include "analyze/analysis.h"
#include "analyze/fault/explain.h"
#include "model/counters.h"
#include "model/item.h"

/*
 * Writes a trace in Perfetto's own format: packets of Protocol Buffers (TracePacket), in compressed
 * blocks. Memory is bounded. Times are exact, on CLOCK_MONOTONIC.
 *
 * The trace has names of tracks, slices with arguments, and arrows, one at a time. A slice is
 * printed in this order, on a track where slices nest:
 *
 *	slice, its arguments, args_end, slices inside of it, slice_end
 *
 * An error stops nothing: perfetto_state() returns it.
 */

struct perfetto;

struct trace_track {
	uint32_t pid, tid;
	/*
	 * The intervals outside faults are printed later than the faults around them. Slice ends
	 * are ordered by their place in the file, so these intervals have a separate track.
	 */
	bool off_cpu;
};

/* Counts of data missing from the trace: lost in the recording, or omitted by the printer. */
struct trace_missing {
	const char *damage;			     /* one clause, or NULL */
	uint64_t lost;				     /* lost records, COUNT_NA if not known */
	uint64_t events_lost;			     /* lost events, COUNT_NA if not known */
	uint64_t requests_left_out, arrows_left_out; /* set by trace_print_end() */
};

/*
 * Viewers assign all slices with one number to one thread. If a tid is reused after its thread
 * exited, the printed number is the tid plus TRACE_NEXT_OWNER for each earlier owner. Linux tids
 * are below TRACE_NUMBERS (PID_MAX_LIMIT).
 */
#define TRACE_NUMBERS	 (1U << 22)
#define TRACE_NEXT_OWNER (1U << 24)
/* The process whose threads are the device lanes. The first lane is the next number. */
#define TRACE_DEVICES_PID (1U << 23)
/* The same for the longest faults: each has a thread. */
#define TRACE_SLOWEST_PID TRACE_NUMBERS

/* The caller still owns @out. NULL: no memory. */
struct perfetto *perfetto_new(FILE *out);
void perfetto_free(struct perfetto *perfetto);
/* Returns 0, or the first error from the trace or the stream. */
int perfetto_state(const struct perfetto *perfetto);

void perfetto_begin_thread(struct perfetto *perfetto, uint32_t tid);
void perfetto_end_thread(struct perfetto *perfetto, uint32_t tid);
void perfetto_name_process(struct perfetto *perfetto, uint32_t pid, const char *name);
void perfetto_name_thread(struct perfetto *perfetto, struct trace_track track, const char *name);

/* @category, @name and all keys are string constants. */
void perfetto_slice(struct perfetto *perfetto, struct trace_track track, const char *category,
		    const char *name, uint64_t start_ns);
void perfetto_slice_end(struct perfetto *perfetto, struct trace_track track, uint64_t end_ns);
/* A slice without arguments and without inner slices. */
void perfetto_plain_slice(struct perfetto *perfetto, struct trace_track track, const char *category,
			  const char *name, uint64_t start_ns, uint64_t end_ns);
/* Arguments. A text may hold any bytes. */
void perfetto_text(struct perfetto *perfetto, const char *key, const char *text);
void perfetto_number(struct perfetto *perfetto, const char *key, uint64_t value);
void perfetto_address(struct perfetto *perfetto, const char *key, uint64_t value);
void perfetto_boolean(struct perfetto *perfetto, const char *key, bool value);
/* The arguments between are one argument with that key. They do not nest. */
void perfetto_dict(struct perfetto *perfetto, const char *key);
void perfetto_dict_end(struct perfetto *perfetto);
void perfetto_args_end(struct perfetto *perfetto);
/* Prints one end of an arrow, in a slice at that time: 's' for the start, 'f' for the end. */
void perfetto_arrow(struct perfetto *perfetto, char phase, struct trace_track track, uint64_t id,
		    uint64_t ns);
/* Prints the missing data as an instant when the trace ends, on a separate track. */
void perfetto_finish(struct perfetto *perfetto, const struct trace_missing *missing);

/* The trace of a run. */

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
