/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef PFSTAT_USER_PERFETTO_H
#define PFSTAT_USER_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
