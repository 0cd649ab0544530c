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

#include "analyze/analysis.h"
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

#endif
