/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distance of each page that returns to memory: its rank among the pages that are still out,
 * newest first. With as many more pages of memory, an exact LRU would have kept the page. The
 * kernel's LRU is not exact, so the curve is what an LRU would do, and real figures can be worse.
 * Pure, in bounded memory: above a limit, half of the pages are sampled away (SHARDS: Waldspurger
 * et al., "Efficient MRC Construction with SHARDS", FAST 2015).
 */
#ifndef PFSTAT_USER_MEMORY_CURVE_H
#define PFSTAT_USER_MEMORY_CURVE_H

#include <stddef.h>
#include <stdint.h>

/* A page of a file, or of anonymous memory: space and index are then the caller's choice. */
struct memory_curve_page {
	uint64_t space; /* device, or process */
	uint64_t inode; /* 0: none */
	uint64_t index; /* of the page */
};

struct memory_curve_sum {
	/* If sampled, use shares of these sums: an error in the size of the sample cancels out. */
	uint64_t returns;
	uint64_t total_ns; /* of the faults that waited for them */
};

struct memory_curve_figures {
	struct memory_curve_sum all; /* returns at any distance */
	uint64_t observed;	     /* returns of pages in the sample */
	uint64_t one_of;	     /* at the end, one of so many pages is in the sample; 1: all */
	uint64_t out;		     /* pages of the sample that are still out */
};

struct memory_curve;

/* @max_out: limit on the sampled pages that are out, at least 2. NULL: no memory */
struct memory_curve *memory_curve_new(size_t max_out);
void memory_curve_free(struct memory_curve *curve);

/* Adds events in time order. Returns 0 or -ENOMEM. */
int memory_curve_evict(struct memory_curve *curve, const struct memory_curve_page *page);
/* @ns: time of the faults that waited for the page, or 0. A page that is not out is ignored. */
void memory_curve_return(struct memory_curve *curve, const struct memory_curve_page *page,
			 uint64_t ns);
/* The page cannot return: its file was truncated, or its process exited. */
void memory_curve_forget(struct memory_curve *curve, const struct memory_curve_page *page);

void memory_curve_figures(const struct memory_curve *curve, struct memory_curve_figures *figures);
/* Sums the returns that so many more pages avoid. A distance is rounded up by at most 1/64. */
struct memory_curve_sum memory_curve_avoided(const struct memory_curve *curve, uint64_t pages);
/* Returns the fewest pages that avoid @percent of the returns, 1 to 100; 0: nothing returned. */
uint64_t memory_curve_pages(const struct memory_curve *curve, unsigned int percent);

#endif
