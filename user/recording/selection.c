// SPDX-License-Identifier: GPL-2.0-only
/* Selects a recording's items by time or by file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "recording/selection.h"
#include "util/why.h"

/*
 * Finds a recording's start, which the counters at the end of the recording hold, and makes a time
 * range absolute. Then each item is compared with the range.
 */

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

/*
 * Passes the items belonging to one file, and the items belonging to no file. There are two passes:
 * the first reads the recording for files with this path, the second filters. A block request for
 * no file passes unless it is for swap, because a fault may wait for metadata.
 */

static int read_items(struct recording_reader *reader, struct analysis *analysis,
		      const volatile sig_atomic_t *stop)
{
	int err = recording_feed(reader, analysis_add, analysis, stop);

	return err ? err : analysis_finish(analysis);
}

static int find(struct file_filter *filter, const struct analysis *analysis, const char *path)
{
	bool all_kept = true;
	struct group *groups;
	size_t nr, i;
	int err;

	err = analysis_groups(analysis, GROUP_BY_FILE, &groups, &nr);
	if (err)
		return err;
	for (i = 0; i < nr; i++)
		all_kept &= !group_is_others(&groups[i]);
	filter->ids = calloc(nr + 1, sizeof(*filter->ids));
	for (i = 0; i < nr && filter->ids; i++)
		if (groups[i].inode && !strcmp(groups[i].name, path))
			filter->ids[filter->nr++] = (struct file_filter_id){
				.dev = groups[i].dev,
				.inode = groups[i].inode,
			};
	free(groups);
	if (!filter->ids)
		return -ENOMEM;
	return filter->nr ? 0 : all_kept ? -ENOENT : -ENOSPC;
}

int file_filter_open(struct file_filter *filter, const char *recording, const char *path,
		     const volatile sig_atomic_t *stop)
{
	struct recording_reader *reader;
	struct analysis *analysis;
	struct why why;
	int err;

	*filter = (struct file_filter){ 0 };
	err = recording_open(&reader, recording, &why);
	if (err)
		return err;
	analysis = analysis_new(true, recording_page_bytes(reader), 1U << GROUP_BY_FILE);
	if (analysis)
		analysis_expect_spans(analysis, recording_has_spans(reader));
	err = analysis ? read_items(reader, analysis, stop) : -ENOMEM;
	recording_close(reader);
	if (!err)
		err = find(filter, analysis, path);
	if (err)
		file_filter_close(filter);
	analysis_free(analysis);
	return err;
}

void file_filter_close(struct file_filter *filter)
{
	free(filter->ids);
	*filter = (struct file_filter){ 0 };
}

static bool is_one(const struct file_filter *filter, uint32_t dev, uint64_t inode)
{
	size_t i;

	for (i = 0; i < filter->nr; i++)
		if (filter->ids[i].dev == dev && filter->ids[i].inode == inode)
			return true;
	return false;
}

static bool event_passes(const struct file_filter *filter, const struct pfstat_event *event)
{
	const struct pfstat_fault *fault = (const struct pfstat_fault *)event;
	const struct pfstat_block *block = (const struct pfstat_block *)event;
	const struct pfstat_page *page = (const struct pfstat_page *)event;

	switch (event->type) {
	case PFSTAT_EVENT_FAULT:
		return is_one(filter, fault->dev, fault->inode);
	case PFSTAT_EVENT_PAGE:
		return is_one(filter, page->dev, page->inode);
	case PFSTAT_EVENT_BLOCK:
		if (event->flags & PFSTAT_BLOCK_FILE)
			return is_one(filter, block->fs_dev, block->inode);
		/* A fault on the file may wait for the file system's metadata blocks. */
		return !(event->flags & PFSTAT_BLOCK_SWAP);
	default:
		return true;
	}
}

bool file_filter_passes(const struct file_filter *filter, const struct item *item)
{
	if (!filter->nr)
		return true;
	switch (item->type) {
	case ITEM_RECORD:
		return is_one(filter, item->record->dev, item->record->inode);
	case ITEM_EVENT:
		return event_passes(filter, item->event);
	default:
		return true;
	}
}
