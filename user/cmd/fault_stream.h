/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report formats that have every fault: traces, rows and profiles. They get the items and the
 * faults while a recording is read.
 */
#ifndef PFSTAT_USER_FAULT_STREAM_H
#define PFSTAT_USER_FAULT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/profile.h"
#include "print/printers.h"
#include "recording/selection.h"

/* All zero is closed. */
struct fault_stream {
	const struct report_printer *format;
	FILE *out;
	FILE *filter; /* replaces control characters in names before out, a terminal; or NULL */
	struct time_range range; /* the rest is left out */
	uint64_t faults;	 /* in the range */
	int err;		 /* the error at which it stopped: later faults have no effect */
	void *data;		 /* for a fault format, while it is open */
	struct profile profile;
};

/* The caller still owns out and analysis. 0 or a negative errno. Both require the close. */
int fault_stream_open(struct fault_stream *stream, enum report_format format, FILE *out,
		      struct analysis *analysis, const struct time_range *range);
/* Call it before the analysis has the item, and then fault_stream_after(). 0 or -errno. */
int fault_stream_before(struct fault_stream *stream, const struct item *item);
int fault_stream_after(struct fault_stream *stream, const struct item *item);
int fault_stream_fault(struct fault_stream *stream, const struct explained *fault);
/*
 * Prints the end, or everything. Call it after report_fill(). @start_ns: start of the recording,
 * COUNT_NA if not known. Returns 0 or the first error.
 */
int fault_stream_end(struct fault_stream *stream, const struct report *report, uint64_t start_ns);
void fault_stream_close(struct fault_stream *stream);

#endif
