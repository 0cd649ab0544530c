// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds a recording's start, which the counters at the end of the recording hold, and makes a time
 * range absolute. Then each item is compared with the range.
 */
#include <errno.h>

#include "recording/counters_json.h"
#include "recording/reader.h"
#include "recording/time_range.h"
#include "util/why.h"

struct time_bounds {
	uint64_t first_ns, last_ns;
};

static int time_range_see(void *context, const struct item *item)
{
	struct time_bounds *bounds = context;

	/* Items at time 0 existed before the recording. */
	if (item->ns && !bounds->first_ns)
		bounds->first_ns = item->ns;
	if (item->ns > bounds->last_ns)
		bounds->last_ns = item->ns;
	return 0;
}

static void time_range_read_tail(struct time_bounds *bounds, const json_t *tail)
{
	struct run_counters counters;

	if (!tail || counters_json_parse(&counters, tail))
		return;
	if (counters.start_ns != COUNT_NA && counters.start_ns)
		bounds->first_ns = counters.start_ns;
	if (counters.end_ns != COUNT_NA && counters.end_ns > bounds->last_ns)
		bounds->last_ns = counters.end_ns;
	run_counters_exit(&counters);
}

static uint64_t time_range_add(uint64_t start_ns, uint64_t ns)
{
	return ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + ns;
}

int time_range_open(struct time_range *range, const char *recording,
		    const volatile sig_atomic_t *stop)
{
	struct recording_reader *reader;
	struct time_bounds bounds = { 0 };
	struct why why;
	int err;

	err = recording_open(&reader, recording, &why);
	if (err)
		return err;
	err = recording_feed(reader, time_range_see, &bounds, stop);
	if (!err)
		time_range_read_tail(&bounds, recording_tail(reader));
	recording_close(reader);
	if (err)
		return err;
	range->length_ns = item_elapsed(bounds.first_ns, bounds.last_ns);
	range->from_ns = time_range_add(bounds.first_ns, range->from_ns);
	range->to_ns = time_range_add(bounds.first_ns, range->to_ns);
	return range->from_ns > bounds.last_ns ? -ERANGE : 0;
}

bool time_range_has_item(const struct time_range *range, const struct item *item)
{
	const struct pfstat_off_cpu *interval = (const struct pfstat_off_cpu *)item->event;
	const struct pfstat_block *block = (const struct pfstat_block *)item->event;

	if (item->type != ITEM_EVENT)
		return true;
	switch (item->event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return time_range_overlaps(range, interval->off_ns, item->ns);
	case PFSTAT_EVENT_BLOCK:
		return time_range_overlaps(range, block->insert_ns ?: block->issue_ns, item->ns);
	default:
		return true;
	}
}
