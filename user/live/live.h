/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live view's rows: differences between two snapshots of a running analysis. Pure except for
 * live_print(): reads no clock and queries no terminal.
 */
#ifndef PFSTAT_USER_LIVE_H
#define PFSTAT_USER_LIVE_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/analysis.h"
#include "report/report.h"
#include "util/subcommand.h"

/* Counts since the start, COUNT_NA if n/a. */
struct live_counters {
	uint64_t lost_records;
	uint64_t lost_events;
	uint32_t hooks;		 /* 1 << enum bpf_hook: those that eBPF has */
	const char *source_note; /* see view_source_note() */
	bool user_only;		 /* see struct report_bpf */
};

/* All figures up to one point in time. */
struct live_snapshot {
	struct live_counters counters;
	uint64_t faults[NR_FAULT_CLASSES];
	uint64_t total_ns[NR_FAULT_CLASSES];
	uint64_t major;			   /* sum over all classes */
	struct group *groups[NR_GROUP_BY]; /* only for the dimensions shown */
	size_t nr[NR_GROUP_BY];
};

#define LIVE_ROWS 100 /* rows kept for a table, costliest first */

/* A group as it was in the last snapshot. */
struct live_seen {
	uint64_t key;
	uint64_t faults, total_ns;
};

/* One group's growth in an interval. */
struct live_row {
	char *name;
	uint64_t faults, total_ns;
};

struct live_table {
	struct live_seen *before; /* sorted by key */
	size_t nr_before;
	struct live_row rows[LIVE_ROWS]; /* costliest first */
	size_t nr_rows;
	uint64_t faults, total_ns; /* over all groups, in the last snapshot */
};

struct live {
	unsigned int by;
	uint64_t start_ns, now_ns, interval_ns;
	/* Since the start. */
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
	char *verdict; /* sentences about all faults since the start, NULL if none */
};

/*
 * @by: bit mask of 1 << enum group_by for each table (file, thread). The first interval begins at
 * start_ns, with all counts 0. NULL: no memory.
 */
struct live *live_new(unsigned int by, uint64_t start_ns);
void live_free(struct live *live);

/* Takes a snapshot of the analysis, which must not change during the call. 0 or -ENOMEM. */
int live_update(struct live *live, const struct analysis *analysis,
		const struct live_counters *counters, uint64_t now_ns);
/*
 * Fills an initialised report with all faults since the start, as of the last snapshot. The
 * counters are initialised, too, and must outlive the report. 0 or -ENOMEM.
 */
int live_report(struct report *report, struct run_counters *counters, const struct live *live,
		const struct analysis *analysis, bool have_bpf);
/*
 * Makes the verdict for all faults since the start, as of the last snapshot. @have_bpf: eBPF sees
 * all faults. Returns 0 or -ENOMEM.
 */
int live_judge(struct live *live, const struct analysis *analysis, bool have_bpf);
/* Like live_update(), with figures the caller has and still owns afterwards. */
int live_take(struct live *live, const struct live_snapshot *snapshot, uint64_t now_ns);

/*
 * Prints the last interval. On a terminal, the output starts in the top left corner, clears the
 * old text, and wraps no line. Otherwise it is a block of lines with an empty line after it. rows
 * and columns limit the size in both cases (0: no limit). 0 or a negative errno.
 */
int live_print(const struct live *live, FILE *out, bool terminal, unsigned int rows,
	       unsigned int columns);

extern const struct subcommand top_command, export_command;

#endif
