/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU intervals as slices of their threads, unless they are part of a fault, whose parts
 * show them. The fault arrives after its intervals, so the last ones of a thread are kept
 * for a while.
 */
#ifndef PFSTAT_USER_TRACE_THREADS_H
#define PFSTAT_USER_TRACE_THREADS_H

#include "analyze/fault/explain.h"
#include "print/trace/trace_writer.h"

struct trace_threads;

struct trace_threads *trace_threads_new(struct trace_json *json);
/* Intervals that are still kept are not printed. */
void trace_threads_free(struct trace_threads *threads);

/* 0 or -ENOMEM. */
int trace_threads_off_cpu(struct trace_threads *threads, const struct pfstat_off_cpu *interval);
/* Before the fault's own slice. */
void trace_threads_fault(struct trace_threads *threads, const struct explained *fault);
/* The thread has exited: prints its intervals that are kept. */
void trace_threads_end(struct trace_threads *threads, uint32_t tid);
/* All are. */
int trace_threads_finish(struct trace_threads *threads);

#endif
