/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU intervals as slices of their threads, except those that are part of a fault, whose
 * parts show them. A fault arrives after its intervals, so the last intervals of a thread are
 * kept until then.
 */
#ifndef PFSTAT_USER_TRACE_THREADS_H
#define PFSTAT_USER_TRACE_THREADS_H

#include "analyze/fault/explain.h"
#include "print/trace/perfetto.h"

struct trace_threads;

struct trace_threads *trace_threads_new(struct perfetto *perfetto);
/* Does not print the intervals that are still kept. */
void trace_threads_free(struct trace_threads *threads);

/* 0 or -ENOMEM. */
int trace_threads_off_cpu(struct trace_threads *threads, const struct pfstat_off_cpu *interval);
/* Call it before printing the fault's own slice. */
void trace_threads_fault(struct trace_threads *threads, const struct explained *fault);
/* Prints the kept intervals of a thread that has exited. */
void trace_threads_end(struct trace_threads *threads, uint32_t tid);
/* Prints the kept intervals of all threads. */
int trace_threads_finish(struct trace_threads *threads);

#endif
