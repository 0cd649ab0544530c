/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stays off the CPU as slices of their threads, where they are not part of a fault:
 * there its parts say more. Which it is shows when the fault is told, after
 * its stays, so the last ones of a thread are kept for a while.
 */
#ifndef PFSTAT_USER_TRACE_THREADS_H
#define PFSTAT_USER_TRACE_THREADS_H

#include "analyze/fault/explain.h"
#include "print/trace/trace_writer.h"

struct trace_threads;

struct trace_threads *trace_threads_new(struct trace_json *json);
/* What is still kept is not printed. */
void trace_threads_free(struct trace_threads *threads);

/* 0 or -ENOMEM. */
int trace_threads_stay(struct trace_threads *threads, const struct pfstat_off_cpu *stay);
/* Before the fault's own slice. */
void trace_threads_fault(struct trace_threads *threads, const struct explained *fault);
/* The thread is gone: prints what is kept of it. */
void trace_threads_end(struct trace_threads *threads, uint32_t tid);
/* All are. */
int trace_threads_finish(struct trace_threads *threads);

#endif
