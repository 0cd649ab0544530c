/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run for trace viewers (Perfetto, chrome://tracing): JSON of the "Trace Event
 * Format" (N. Duca, D. Sinclair, Google). Written as the run streams by:
 *
 *	item  -> trace_item()	names of processes and threads; block requests, and stays
 *				off the CPU outside of faults, as slices ("X")
 *	fault -> trace_fault()	a slice on its thread, its parts as slices in it, and an
 *				arrow ("s", "f") from the request that it waited for
 *
 * Slices of one track must nest. A device moves several requests at once: each goes to
 * the first of the device's lanes that is free. Memory does not grow with the run.
 */
#ifndef PFSTAT_USER_TRACE_PRINT_H
#define PFSTAT_USER_TRACE_PRINT_H

#include <stdio.h>

#include "analyze/fault/explain.h"
#include "model/counters.h"
#include "model/item.h"

/*
 * The process whose threads are the lanes, and the first lane's tid: above what
 * the kernel gives (PID_MAX_LIMIT is 2^22).
 */
#define TRACE_DEVICES_PID (1U << 23)
#define TRACE_MAX_DEVICES 64
#define TRACE_MAX_LANES	  1024 /* of each: more requests at once are left out */

struct trace_writer;

/* out stays the caller's. 0 or a negative errno. */
int trace_begin(struct trace_writer **trace, FILE *out);
/* An item_sink. Before the analysis has the item, so that arrows find their requests. */
int trace_item(void *trace, const struct item *item);
/* An explain_sink. */
int trace_fault(void *trace, const struct explained *fault);
/* Warnings for the reader of the trace about missing data. */
struct trace_missing {
	const char *damage;   /* one clause, or NULL */
	uint64_t lost;	      /* records; COUNT_NA: not known */
	uint64_t events_lost; /* likewise */
};

/* Closes the JSON and frees in any case. */
int trace_end(struct trace_writer *trace, const struct trace_missing *missing);

#endif
