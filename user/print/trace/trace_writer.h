/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event of the Trace Event Format at a time. Times are printed in µs with
 * their nanoseconds as decimals, by integers alone: nothing is rounded.
 */
#ifndef PFSTAT_USER_TRACE_WRITER_H
#define PFSTAT_USER_TRACE_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_json {
	FILE *out;
	bool any;	    /* an event was written: a comma comes first */
	bool begun;	    /* origin_ns is known */
	uint64_t origin_ns; /* CLOCK_MONOTONIC at the trace's 0 */
	uint8_t *owners;    /* by number of a thread, see trace_json_end_thread(); or NULL */
};

void trace_json_exit(struct trace_json *json);

/*
 * Viewers take all slices of one number for one thread. After a thread ended and another one
 * began with its number, the number is printed plus TRACE_NEXT_OWNER for each owner before.
 * Linux has numbers below TRACE_NUMBERS. end: -ENOMEM.
 */
#define TRACE_NUMBERS	 (1U << 22)
#define TRACE_NEXT_OWNER (1U << 24)
int trace_json_end_thread(struct trace_json *json, uint32_t tid);
void trace_json_begin_thread(struct trace_json *json, uint32_t tid);

/*
 * Before the first time is printed: a moment of the run. Viewers take times as doubles,
 * which hold the nanoseconds of 50 days; machines run longer. So 0 is one or two
 * days before that moment, by whole days since the machine was started; what
 * began still earlier is shown from there on.
 */
void trace_json_begin(struct trace_json *json, uint64_t ns);

struct trace_track {
	uint32_t pid, tid;
};

/*
 * Names of files and threads may be any bytes, JSON is UTF-8: where they are not, what is
 * no ASCII becomes a question mark. NULL: no memory.
 */
json_t *trace_json_text(const char *bytes);
/* The same as it is printed, with its quotes; to be freed. */
char *trace_json_string(const char *bytes);

/* Metadata: kind is "process_name", "thread_name". 0 or -ENOMEM. */
int trace_json_name(struct trace_json *json, const char *kind, struct trace_track track,
		    const char *name);

/*
 * A slice, open for arguments: the caller prints `"key":value` pairs, with commas
 * between, to json->out, then ends it.
 */
void trace_json_slice(struct trace_json *json, struct trace_track track, const char *category,
		      const char *name, uint64_t start_ns, uint64_t end_ns);
void trace_json_slice_end(struct trace_json *json);

/* One end of an arrow: 's' where it starts, 'f' where it ends; in a slice that is there then. */
void trace_json_arrow(struct trace_json *json, char phase, struct trace_track track, uint64_t id,
		      uint64_t ns);

#endif
