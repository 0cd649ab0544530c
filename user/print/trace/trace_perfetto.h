/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a trace in Perfetto's own format: packets of Protocol Buffers (TracePacket), in compressed
 * blocks. Memory is bounded. Times are exact, on CLOCK_MONOTONIC.
 */
#ifndef PFSTAT_USER_TRACE_PERFETTO_H
#define PFSTAT_USER_TRACE_PERFETTO_H

#include <stdio.h>

struct trace_sink;

/* NULL: no memory. */
struct trace_sink *trace_perfetto_new(FILE *out);

#endif
