/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of a trace: names of tracks, slices with arguments, and arrows, one at a time. A slice
 * is printed in this order, on a track where slices nest:
 *
 *	slice, its arguments, args_end, slices inside of it, slice_end
 *
 * An error stops nothing: the sink keeps the first one in err.
 */
#ifndef PFSTAT_USER_TRACE_SINK_H
#define PFSTAT_USER_TRACE_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_sink;

struct trace_track {
	uint32_t pid, tid;
	/*
	 * The intervals outside of faults, which are printed later than the faults around them. A
	 * format that orders the ends of slices by their place in the file needs a track for them.
	 */
	bool off_cpu;
};

enum trace_named { TRACE_NAMED_PROCESS, TRACE_NAMED_THREAD };

/* Warnings for the reader of the trace about missing data. */
struct trace_missing {
	const char *damage;			     /* one clause, or NULL */
	uint64_t lost;				     /* lost records; COUNT_NA: not known */
	uint64_t events_lost;			     /* lost events; COUNT_NA: not known */
	uint64_t requests_left_out, arrows_left_out; /* set by trace_end() */
};

struct trace_sink_ops {
	void (*name)(struct trace_sink *sink, enum trace_named named, struct trace_track track,
		     const char *name);
	/* @category, @name and all keys are string constants. */
	void (*slice)(struct trace_sink *sink, struct trace_track track, const char *category,
		      const char *name, uint64_t start_ns, uint64_t end_ns);
	void (*slice_end)(struct trace_sink *sink, struct trace_track track, uint64_t end_ns);
	/* Arguments. A text may hold any bytes, a word only printable ASCII without quotes. */
	void (*text)(struct trace_sink *sink, const char *key, const char *text);
	void (*word)(struct trace_sink *sink, const char *key, const char *word);
	void (*number)(struct trace_sink *sink, const char *key, uint64_t value);
	void (*address)(struct trace_sink *sink, const char *key, uint64_t value);
	void (*boolean)(struct trace_sink *sink, const char *key, bool value);
	/* The arguments between are one argument with that key. They do not nest. */
	void (*dict)(struct trace_sink *sink, const char *key);
	void (*dict_end)(struct trace_sink *sink);
	void (*args_end)(struct trace_sink *sink);
	/* Prints one end of an arrow: 's' is its start, 'f' its end, in a slice at that time. */
	void (*arrow)(struct trace_sink *sink, char phase, struct trace_track track, uint64_t id,
		      uint64_t ns);
	void (*finish)(struct trace_sink *sink, const struct trace_missing *missing);
	void (*free)(struct trace_sink *sink);
};

struct trace_sink {
	const struct trace_sink_ops *ops;
	FILE *out; /* owned by the caller */
	int err;
	bool begun;	    /* origin_ns is set */
	uint64_t origin_ns; /* CLOCK_MONOTONIC; see trace_sink_begin() */
	uint8_t *owners;    /* indexed by tid, see trace_sink_end_thread(); or NULL */
};

/* For the free() of a format. */
void trace_sink_exit(struct trace_sink *sink);
/* 0, or the first error of the format or of its stream. */
int trace_sink_state(const struct trace_sink *sink);

/*
 * Viewers assign all slices with one number to one thread. If a tid is reused after its thread
 * exited, the printed number is the tid plus TRACE_NEXT_OWNER for each earlier owner. Linux tids
 * are below TRACE_NUMBERS.
 */
#define TRACE_NUMBERS	 (1U << 22)
#define TRACE_NEXT_OWNER (1U << 24)
#define TRACE_OWNERS_MAX 0x7f /* later owners share one number */
void trace_sink_end_thread(struct trace_sink *sink, uint32_t tid);
void trace_sink_begin_thread(struct trace_sink *sink, uint32_t tid);
uint32_t trace_sink_number(const struct trace_sink *sink, uint32_t tid);

/*
 * Call it before the first slice, with a time of the run. Viewers of JSON store times as doubles,
 * which hold nanoseconds for 50 days, but machines run longer. So origin_ns is one or two days
 * before that time, at a multiple of a day since boot. Earlier times are printed as that.
 */
void trace_sink_begin(struct trace_sink *sink, uint64_t ns);

#endif
