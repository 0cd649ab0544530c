/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the Trace Event Format one event at a time. Times are printed in µs with nanoseconds as
 * decimals. All arithmetic is on integers, so nothing is rounded.
 */
#ifndef PFSTAT_USER_TRACE_WRITER_H
#define PFSTAT_USER_TRACE_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_json {
	FILE *out;
	bool any;	    /* an event was written: the next needs a comma */
	bool begun;	    /* origin_ns is set */
	uint64_t origin_ns; /* CLOCK_MONOTONIC at time 0 of the trace */
	uint8_t *owners;    /* indexed by tid, see trace_json_end_thread(); or NULL */
};

void trace_json_exit(struct trace_json *json);

/*
 * Viewers assign all slices with one number to one thread. If a tid is reused after its thread
 * exited, the printed number is the tid plus TRACE_NEXT_OWNER for each earlier owner. Linux tids
 * are below TRACE_NUMBERS. end: -ENOMEM.
 */
#define TRACE_NUMBERS	 (1U << 22)
#define TRACE_NEXT_OWNER (1U << 24)
int trace_json_end_thread(struct trace_json *json, uint32_t tid);
void trace_json_begin_thread(struct trace_json *json, uint32_t tid);

/*
 * Call it before the first time is printed, with a time of the run. Viewers store times as doubles,
 * which hold nanoseconds for 50 days, but machines run longer. So time 0 of the trace is one or two
 * days before that time, at a multiple of a day since boot. Earlier times are printed as 0.
 */
void trace_json_begin(struct trace_json *json, uint64_t ns);

struct trace_track {
	uint32_t pid, tid;
};

/*
 * Converts names of files and threads, which may hold any bytes, to a JSON string. If a name is
 * not valid UTF-8, each byte that is not ASCII becomes a question mark. NULL: no memory.
 */
json_t *trace_json_text(const char *bytes);
/* Like trace_json_text(), as printed text with quotes. The caller frees it. */
char *trace_json_string(const char *bytes);

/* Prints metadata. @kind: "process_name" or "thread_name". 0 or -ENOMEM. */
int trace_json_name(struct trace_json *json, const char *kind, struct trace_track track,
		    const char *name);

/*
 * Begins a slice. The caller prints its arguments to json->out as `"key":value` pairs with commas
 * between, then ends the slice.
 */
void trace_json_slice(struct trace_json *json, struct trace_track track, const char *category,
		      const char *name, uint64_t start_ns, uint64_t end_ns);
void trace_json_slice_end(struct trace_json *json);

/* Prints one end of an arrow: 's' is its start, 'f' its end. A slice must exist at that time. */
void trace_json_arrow(struct trace_json *json, char phase, struct trace_track track, uint64_t id,
		      uint64_t ns);

#endif
