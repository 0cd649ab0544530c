/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens now: the difference between two looks at a running analysis, as lines.
 * Pure but for live_print(): no clock, no terminal asked.
 */
#ifndef PFSTAT_USER_LIVE_H
#define PFSTAT_USER_LIVE_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/analysis.h"

/* Counts since the start; COUNT_NA: n/a. */
struct live_counters {
	uint64_t lost_records;
	uint64_t lost_events;
};

/* Everything up to a moment. */
struct live_snapshot {
	struct live_counters counters;
	uint64_t faults[NR_FAULT_CLASSES];
	uint64_t total_ns[NR_FAULT_CLASSES];
	uint64_t major;			   /* of all classes */
	struct group *groups[NR_GROUP_BY]; /* only of the dimensions that are shown */
	size_t nr[NR_GROUP_BY];
};

#define LIVE_ROWS 100 /* the costliest that are kept of a table */

/* A group as it was at the last look. */
struct live_seen {
	uint64_t key[2];
	uint64_t faults, total_ns;
};

/* What an interval brought. */
struct live_row {
	char *name;
	uint64_t faults, total_ns;
};

struct live_table {
	struct live_seen *before; /* in order of their keys */
	size_t nr_before;
	struct live_row rows[LIVE_ROWS]; /* costliest first */
	size_t nr_rows;
};

struct live {
	unsigned int by;
	uint64_t start_ns, now_ns, interval_ns;
	/* So far. */
	struct live_counters counters;
	uint64_t faults[NR_FAULT_CLASSES];
	uint64_t total_ns[NR_FAULT_CLASSES];
	uint64_t major;
	/* In the last interval. */
	struct {
		uint64_t faults, total_ns;
	} classes[NR_FAULT_CLASSES];
	uint64_t new_major;
	struct live_table tables[NR_GROUP_BY];
};

/*
 * by: 1 << enum group_by of each table that is wanted (file, thread). What is shown
 * first are the differences from nothing at start_ns. NULL: no memory.
 */
struct live *live_new(unsigned int by, uint64_t start_ns);
void live_free(struct live *live);

/* A look at the analysis, which must not move meanwhile. 0 or -ENOMEM. */
int live_update(struct live *live, const struct analysis *analysis,
		const struct live_counters *counters, uint64_t now_ns);
/* The same, of figures at hand; they stay the caller's. */
int live_take(struct live *live, const struct live_snapshot *snapshot, uint64_t now_ns);

/*
 * The last interval. On a terminal of that size from the top left corner, what was there
 * before is cleared, and no line wraps; else as a block of lines with an empty
 * one behind it, of which rows and columns are the greatest size, too (0: any).
 * 0 or a negative errno.
 */
int live_print(const struct live *live, FILE *out, bool terminal, unsigned int rows,
	       unsigned int columns);

#endif
