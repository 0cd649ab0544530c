/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many faults on evicted pages more memory would avoid, from one recording. Two models bound
 * the kernel's choice of pages to evict:
 *
 * - LRU: the page that was not used for the longest time leaves. A returning page has a distance:
 *   the rank among the pages still out, newest first. With as many more memory pages, an LRU would
 *   have kept it. A distance is exact below 64, else rounded up by at most 1/32.
 * - FIFO: the use of a page does not keep it in memory. A page of n returns that is in memory for
 *   the time R and out for the time O returns n (R + O) / (R + D + O) times if each page leaves
 *   later by D. It takes that the times of use of a page are independent. Pages that return
 *   at regular intervals, as in a loop, contradict this. Then no fault is certain to be avoided
 *   until all pages fit. At most those are that an LRU avoids, or, with more than half of the
 *   missing memory, an optimal choice: it keeps as many pages as fit.
 *
 * Neither model gives the memory that avoids all faults, because the kernel may keep other pages.
 * Room for all pages that were out at once does: no page had to leave. So only that size has the
 * share 1.
 *
 * Pure, in bounded memory: above a limit, half the pages are sampled away (SHARDS: Waldspurger et
 * al., "Efficient MRC Construction with SHARDS", FAST 2015). With s pages in the sample a share has
 * an error of about 1 / sqrt(s).
 */
#ifndef PFSTAT_USER_MEMORY_CURVE_H
#define PFSTAT_USER_MEMORY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page of a file, or of a process: see swap_outs.c. */
struct memory_curve_page {
	uint64_t dev;
	uint64_t inode;
	uint64_t index;
};

struct memory_curve_sums {
	double faults;
	double total_ns;
};

struct memory_curve_figures {
	uint64_t evicted, returned; /* pages, counted each time */
	uint64_t faults;	    /* faults waiting for a returning page */
	uint64_t total_ns;	    /* among these faults */
	uint64_t sampled;	    /* pages in the sample */
	uint64_t one_of;	    /* one in this many pages is in the sample, 1 for all */
	uint64_t most_out;	    /* pages that were out at once */
	bool is_regular;	    /* pages return at regular intervals */
};

/* Shares of faults and fault time, 0 to 1, that so many more pages avoid. */
struct memory_curve_point {
	uint64_t pages;
	struct memory_curve_sums least, most;
};

struct memory_curve;

/* @max_pages: limit on the pages in the sample, at least 2. NULL: no memory */
struct memory_curve *memory_curve_new(size_t max_pages);
void memory_curve_free(struct memory_curve *curve);

/* Adds events in time order. Returns 0 or -ENOMEM. */
int memory_curve_evict(struct memory_curve *curve, const struct memory_curve_page *page);
int memory_curve_evict_range(struct memory_curve *curve, const struct memory_curve_page *first,
			     uint64_t pages);
/* A page that is not out is ignored. */
void memory_curve_return(struct memory_curve *curve, const struct memory_curve_page *page);
/*
 * A fault waited for the return of the page for so long. Returns the number of faults that it
 * stands for, 0 if the page is not in the sample, or -1 if it did not return, so that it does not
 * count.
 */
int64_t memory_curve_fault(struct memory_curve *curve, const struct memory_curve_page *page,
			   uint64_t total_ns);
/* True if pages of the file are in the sample. */
bool memory_curve_has_file(const struct memory_curve *curve, uint64_t dev, uint64_t inode);
/* Another file has the inode from now on: the pages of the old one do not return. */
void memory_curve_end_file(struct memory_curve *curve, uint64_t dev, uint64_t inode);

void memory_curve_figures(const struct memory_curve *curve, struct memory_curve_figures *figures);
/* Fills in @points for the given numbers of @pages, in any order. */
void memory_curve_points(const struct memory_curve *curve, struct memory_curve_point *points,
			 size_t nr);

#endif
