/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of a run that goes on: snapshots and their differences for top, OpenMetrics text and
 * one analysis a cgroup for export.
 */
#ifndef PFSTAT_APPS_LIVE_H
#define PFSTAT_APPS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analyze/analysis.h"
#include "report/report.h"
#include "util/hash.h"
#include "util/subcommand.h"

/*
 * A live view's rows: differences between two snapshots of a running analysis. Pure except for
 * live_print(): reads no clock and queries no terminal.
 */

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

/*
 * Prints a running measurement's counters as OpenMetrics text, for Prometheus' node exporter (the
 * textfile collector) and for every other reader of this format.
 */

/* The faults for one label value. */
struct openmetrics_row {
	const char *value;	     /* any bytes */
	const struct report *report; /* filled, as of now */
};

struct openmetrics {
	const char *label, *value; /* what is watched, in samples outside the rows. Any bytes */
	const struct openmetrics_row *rows;
	size_t nr_rows;
	/* COUNT_NA: not known. */
	uint64_t watched_ns;
	uint64_t lost_records, lost_events;
	uint64_t own_cpu_ns;	 /* used by pfdrive itself */
	uint64_t own_peak_bytes; /* pfdrive's largest resident set */
};

/* 0 or a negative errno. */
int openmetrics_print(FILE *out, const struct openmetrics *metrics);

/*
 * One analysis for each cgroup. An item goes to the analysis for the cgroup where the process was
 * last seen: when it was first seen, at each exec, and at each update. A child starts in the
 * parent's cgroup. Reads neither files nor clocks: the caller supplies the look-up.
 */

/* Returns the name of a process's cgroup, which is freed later. NULL: the process is gone. */
typedef char *(*cgroup_lookup)(pid_t pid);

/* More cgroups share one that is named "(others)", unless an older one has no process any more. */
#define CGROUP_ANALYSES_MAX 128 /* with analysis_new_small() */
#define CGROUP_OTHERS	    "(others)"
#define CGROUP_UNKNOWN	    "(unknown)" /* from processes ending before they were looked up */

struct cgroup_analysis {
	char *name;
	struct analysis *analysis;
	size_t processes;
	uint64_t left; /* the update at which the last process was gone, 0 if it has some */
};

struct cgroup_analyses {
	bool have_bpf;
	uint64_t page_bytes;
	unsigned int groups;
	cgroup_lookup lookup;
	struct hash processes; /* struct cgroup_process by pid */
	struct cgroup_analysis list[CGROUP_ANALYSES_MAX];
	size_t nr;
	uint64_t updates;
	int update_err; /* in the current update */
};

/* @have_bpf, @page_bytes, @groups: see analysis_new() */
void cgroup_analyses_init(struct cgroup_analyses *cgroups, bool have_bpf, uint64_t page_bytes,
			  unsigned int groups, cgroup_lookup lookup);
void cgroup_analyses_exit(struct cgroup_analyses *cgroups);
/* An item_sink. */
int cgroup_analyses_add(void *cgroups, const struct item *item);
/* Looks up all processes again, and forgets those that are gone. 0 or -ENOMEM. */
int cgroup_analyses_update(struct cgroup_analyses *cgroups);

#endif
