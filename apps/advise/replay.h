/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive replay: a file's recorded faults, and a pattern that repeats them. */
#ifndef PFSTAT_APPS_REPLAY_H
#define PFSTAT_APPS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/fault/explain.h"
#include "drive/run.h"
#include "workload/pattern.h"

/*
 * A pattern that visits a file's pages in the recorded fault order. The gap before a visit is the
 * time from the end of the previous fault to the start of this one. (The time from start to start
 * would include the fault's cost, which may change.) Recorded madvise(2) calls on the file are
 * repeated between the visits.
 */

struct replay_visit {
	uint64_t page;
	uint64_t start_ns; /* start of the recorded fault */
	uint64_t end_ns;   /* end of the fault, or after replay_order() the gap before this visit */
};

/* A madvise(2) call for pages in the file, at this position in the order. */
struct replay_advice {
	uint64_t page, pages;
	uint64_t start_ns;
	uint64_t end_ns; /* after replay_order(): the gap before it */
	size_t before;	 /* after replay_order(): the next visit's index */
	int advice;	 /* MADV_* */
};

struct replay {
	struct replay_visit *visits;
	size_t count, capacity;
	struct replay_advice *advices;
	size_t nr_advices, advice_capacity;
};

/* Adds a visit, in any order. Returns 0 or -ENOMEM. */
int replay_add(struct replay *replay, uint64_t page, uint64_t start_ns, uint64_t end_ns);
/*
 * Adds advice, in any order. start and end are 0 if it precedes the recording. Returns 0 or
 * -ENOMEM.
 */
int replay_advise(struct replay *replay, const struct replay_advice *advice);
/* Removes all advice. */
void replay_forget_advice(struct replay *replay);
/*
 * Sorts by start and computes the gaps. A gap is the time since the latest end among all faults
 * that started earlier. If faults in several threads overlap, the gap is 0 until all have ended.
 */
void replay_order(struct replay *replay);
void replay_exit(struct replay *replay);

/*
 * Makes a pattern from the visits, fitted to a @bytes file. Visits beyond the end are skipped.
 * @paced: wait for the recorded gaps. Otherwise visits follow each other at once.
 */
void replay_pattern(struct pattern *pattern, const struct replay *replay, uint64_t bytes,
		    bool paced);

/* Number of failed madvise(2) calls in the pattern's last run, and the last errno. */
size_t replay_refused(int *error);

/* One file's faults out of a recording: in order, to be replayed, and their figures. */

/* Faults by class, as they are added up. */
struct class_totals {
	uint64_t count, total_ns;
};

struct recorded_file {
	char path[4096];
	uint32_t dev;
	uint64_t inode;
	struct class_totals classes[NR_FAULT_CLASSES];
	uint64_t first_ns, last_ns; /* start of the first fault, end of the last */
	uint64_t lost, events_lost; /* for all files, COUNT_NA if the recording is cut */
	bool have_advice;	    /* madvise(2) calls are in replay */
	size_t no_advice;	    /* mappings from before the recording with unknown advice */
	uint32_t hooks;		    /* from eBPF or perf, 0 without both */
	struct replay replay;
};

/*
 * path NULL: the file with the longest fault time. STATUS_OK if there is at least one visit, or the
 * exit status, after a message or for a signal. A damaged recording is used up to the damage, after
 * a message.
 */
int recorded_file_read(struct recorded_file *file, const char *recording, const char *path);
void recorded_file_exit(struct recorded_file *file);

/* Prints a file's recorded faults next to the replayed ones. */

struct replayed {
	const char *path;			       /* for the touched file */
	struct class_totals classes[NR_FAULT_CLASSES]; /* the file's faults */
	struct result result;
	bool advised;	   /* by an option: nothing was repeated */
	size_t nr_advices; /* repeated madvise(2) calls */
	size_t nr_refused; /* failed ones, and the last errno */
	int refused_errno;
};

#endif
