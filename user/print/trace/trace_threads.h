/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU intervals as slices in their threads, except intervals inside a fault, which the fault's
 * parts show. A fault arrives after its intervals, so a thread's last intervals are kept until
 * then.
 */
#ifndef PFSTAT_USER_TRACE_THREADS_H
#define PFSTAT_USER_TRACE_THREADS_H

#include "analyze/fault/explain.h"
#include "print/trace/perfetto.h"

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

#endif
