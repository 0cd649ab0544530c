/* SPDX-License-Identifier: GPL-2.0-only */
/* What live.c keeps and print_live.c shows. */
#ifndef PFSTAT_USER_LIVE_STATE_H
#define PFSTAT_USER_LIVE_STATE_H

#include "report/live.h"

#define LIVE_ROWS 100	/* the costliest that are kept of a table */

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
	struct live_seen *before;	/* in order of their keys */
	size_t nr_before;
	struct live_row rows[LIVE_ROWS];	/* costliest first */
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

#endif
