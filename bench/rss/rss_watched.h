/* SPDX-License-Identifier: GPL-2.0-only */
/* The process's steps, made once, with the module and eBPF looking on. */
#ifndef PFSTAT_USER_RSS_WATCHED_H
#define PFSTAT_USER_RSS_WATCHED_H

#include <stdbool.h>

#include "bench/rss/rss_steps.h"
#include "workload/mapping.h"

struct rss_plan {
	const struct mapping *mapping; /* open, not mapped */
	const char *name;	       /* folder, for sentences */
	bool warm;		       /* the file's pages are in the page cache, or none is */
	bool fault_around, bpf;
};

/*
 * report->steps: kind and offset are set, and the call fills everything else in the steps.
 * STATUS_OK, or the exit status, after a message.
 */
int rss_watched(const struct rss_plan *plan, struct rss_report *report);

#endif
