/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a trace in the "Trace Event Format" (N. Duca, D. Sinclair, Google), JSON for Perfetto's
 * viewer and chrome://tracing. Times are printed in µs with nanoseconds as decimals. Arithmetic is
 * on integers, so nothing is rounded.
 */
#ifndef PFSTAT_USER_TRACE_JSON_H
#define PFSTAT_USER_TRACE_JSON_H

#include <jansson.h>
#include <stdio.h>

struct trace_sink;

/* NULL: no memory. */
struct trace_sink *trace_json_new(FILE *out);

/*
 * Converts names of files and threads, which may hold any bytes, to a JSON string. If a name is
 * not valid UTF-8, each byte that is not ASCII becomes a question mark. NULL: no memory.
 */
json_t *trace_json_text(const char *bytes);
/* Like trace_json_text(), as printed text with quotes. The caller frees it. */
char *trace_json_string(const char *bytes);

#endif
