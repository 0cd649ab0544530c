/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a prefetch list and its size-benefit curve from recordings of the same start. */
#ifndef PFSTAT_USER_PREFETCH_MAKE_H
#define PFSTAT_USER_PREFETCH_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefetch/prefetch_list.h"
#include "prefetch/prefetch_plan.h"

/* The rows in the size-benefit curve: time shares, in per cent. */
#define PREFETCH_CURVE	  { 50, 80, 90, 95, 99, 100 }
#define PREFETCH_CURVE_NR 6

struct prefetch_made {
	struct prefetch_list list;
	unsigned int runs, min_runs;
	uint64_t pages_seen;	       /* needed by any recording */
	struct prefetch_sum all, kept; /* for pages in min_runs recordings, after the cut */
	struct prefetch_sum curve[PREFETCH_CURVE_NR];
	uint64_t cached;		       /* pages, over all recordings, see needed_pages.h */
	uint64_t unnamed_files, unnamed_pages; /* read, but their path is not known */
	uint64_t changed_files;	       /* gone or changed since a recording; a message names each */
	unsigned int without_requests; /* recordings without eBPF's block requests */
	unsigned int of_perf;	       /* of these, perf recordings */
};

struct prefetch_wish {
	char *const *recordings;
	unsigned int runs;
	unsigned int min_runs; /* 0: more than half */
	uint64_t max_bytes;    /* UINT64_MAX: all */
};

/* STATUS_OK, or the exit status after a message or a signal. */
int prefetch_make(struct prefetch_made *made, const struct prefetch_wish *wish);
void prefetch_made_exit(struct prefetch_made *made);

#endif
