/* SPDX-License-Identifier: GPL-2.0-only */
/* One file's faults out of a recording: in order, to be replayed, and their figures. */
#ifndef PFSTAT_USER_RECORDED_FILE_H
#define PFSTAT_USER_RECORDED_FILE_H

#include "advise/replay.h"
#include "analyze/fault/explain.h"

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

#endif
