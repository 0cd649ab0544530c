/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a recording that a report is about: a time range, or one file's items. */
#ifndef PFSTAT_USER_SELECTION_H
#define PFSTAT_USER_SELECTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

/*
 * A time range within a recording. A fault, an off-CPU interval or a request that overlaps the
 * range is in it as a whole, so a fault crossing a bound belongs to the ranges on both sides.
 */

/* CLOCK_MONOTONIC, from from_ns up to and without to_ns. */
struct time_range {
	uint64_t from_ns, to_ns;
	uint64_t length_ns; /* for the whole recording */
};

#define TIME_RANGE_ALL ((struct time_range){ .to_ns = UINT64_MAX })

/*
 * Converts a range relative to the recording's start. A recording without an end starts with the
 * first event. Reads the whole recording. -ERANGE: it ends before from_ns. -EINTR: *stop became
 * nonzero. Otherwise as recording_open() and recording_feed().
 */
int time_range_open(struct time_range *range, const char *recording,
		    const volatile sig_atomic_t *stop);

static inline bool time_range_overlaps(const struct time_range *range, uint64_t start_ns,
				       uint64_t end_ns)
{
	return start_ns < range->to_ns && end_ns >= range->from_ns;
}

/* Compares requests and off-CPU intervals. Other items have names, or become faults: true. */
bool time_range_has_item(const struct time_range *range, const struct item *item);

/*
 * Passes a recording's items that belong to one file: faults, pages, requests. Items belonging to
 * no file (sleeps, threads, mappings) pass too. One path stands for several files if another file
 * replaced the first during the recording.
 */

struct file_filter_id {
	uint32_t dev; /* device number as in a record */
	uint64_t inode;
};

/* If all members are 0, everything passes. */
struct file_filter {
	struct file_filter_id *ids;
	size_t nr;
};

/*
 * Reads the whole recording to find the files with this path. -ENOENT: none of them had a fault.
 * -ENOSPC: the path is not among the files that are kept apart, and there are others. -EINTR:
 * *stop became nonzero. Otherwise as recording_open() and analysis_add().
 */
int file_filter_open(struct file_filter *filter, const char *recording, const char *path,
		     const volatile sig_atomic_t *stop);
void file_filter_close(struct file_filter *filter);

bool file_filter_passes(const struct file_filter *filter, const struct item *item);

#endif
