// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes the items belonging to one file, and the items belonging to no file. There are two passes:
 * the first reads the recording for files with this path, the second filters. A block request for
 * no file passes unless it is for swap, because a fault may wait for metadata.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "recording/file_filter.h"
#include "recording/reader.h"
#include "util/why.h"

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
