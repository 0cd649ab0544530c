// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state that all formats of a trace share: the origin of their times, and which thread has a
 * number now. It keeps no events.
 */
#include <errno.h>
#include <stdlib.h>

#include "print/trace/trace_sink.h"
#include "util/time_ns.h"

#define OWNER_ENDED 0x80

void trace_sink_exit(struct trace_sink *sink)
{
	free(sink->owners);
}

int trace_sink_state(const struct trace_sink *sink)
{
	return ferror(sink->out) ? -EIO : sink->err;
}

void trace_sink_begin(struct trace_sink *sink, uint64_t ns)
{
	const uint64_t day_ns = 86400 * SECOND, days = ns / day_ns;

	if (sink->begun)
		return;
	sink->begun = true;
	sink->origin_ns = days ? (days - 1) * day_ns : 0;
}

void trace_sink_end_thread(struct trace_sink *sink, uint32_t tid)
{
	/* calloc() of many pages: the kernel allocates only the pages that are written. */
	if (!sink->owners)
		sink->owners = calloc(TRACE_NUMBERS, 1);
	if (!sink->owners)
		sink->err = -ENOMEM;
	else if (tid < TRACE_NUMBERS)
		sink->owners[tid] |= OWNER_ENDED;
}

void trace_sink_begin_thread(struct trace_sink *sink, uint32_t tid)
{
	uint8_t *owner = sink->owners && tid < TRACE_NUMBERS ? &sink->owners[tid] : NULL;

	if (!owner || !(*owner & OWNER_ENDED))
		return;
	*owner &= ~OWNER_ENDED;
	*owner += *owner < TRACE_OWNERS_MAX;
}

uint32_t trace_sink_number(const struct trace_sink *sink, uint32_t tid)
{
	return sink->owners && tid < TRACE_NUMBERS ?
		       tid + (sink->owners[tid] & TRACE_OWNERS_MAX) * TRACE_NEXT_OWNER :
		       tid;
}
