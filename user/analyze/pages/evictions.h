/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes refaults to evictors: joins pages that left the page cache, or memory for swap, with
 * later reads and faults on the same pages.
 */
#ifndef PFSTAT_USER_EVICTIONS_H
#define PFSTAT_USER_EVICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/fault/explain.h"
#include "analyze/pages/memory_curve.h"

/*
 * Anonymous pages that reclaim swapped out, and the faults that read them again: they take part in
 * the curve of more memory next to the pages of files. A page is known by its process and address.
 */

struct swap_outs_figures {
	uint64_t pages;	    /* that reclaim swapped out */
	uint64_t by_others; /* of these, by processes without faults on reclaimed pages */
	uint64_t faults;    /* swap-ins of the curve; an estimate if it has a sample */
	uint64_t unknown;   /* swap-ins of pages that were not seen to leave in reclaim */
};

struct swap_outs;

/* The pages are added to @curve, which must live longer. NULL: no memory */
struct swap_outs *swap_outs_new(struct memory_curve *curve, uint64_t page_bytes);
void swap_outs_free(struct swap_outs *swaps);

/* @page: with PFSTAT_PAGE_ANON. Returns 0 or -ENOMEM. */
int swap_outs_add(struct swap_outs *swaps, const struct pfstat_page *page);
/* A handle_mm_fault() returned; only those of kind swap count. In time order with the pages. */
void swap_outs_add_return(struct swap_outs *swaps, const struct pfstat_fault *fault);
/* @fault: of class swap, after its return */
void swap_outs_add_fault(struct swap_outs *swaps, const struct explained *fault);
/* The process ends, or executes another program: its pages do not return. */
void swap_outs_end(struct swap_outs *swaps, uint32_t pid);

/* True if pages of the process were swapped out. */
bool swap_outs_has(const struct swap_outs *swaps, uint32_t pid);
/* @is_victim: true if a process faulted on reclaimed pages of files */
void swap_outs_figures(const struct swap_outs *swaps,
		       bool (*is_victim)(const void *context, uint32_t pid), const void *context,
		       struct swap_outs_figures *figures);

/*
 * Limits on separately counted evictors and pairs, even numbers. If there are more, those with the
 * fewest pages are folded into one named "(others)", see folding_choose().
 */
#define EVICTIONS_MAX_EVICTORS 1024
#define EVICTIONS_MAX_PAIRS    4096
#define EVICTIONS_OTHERS       "(others)"

/* The reason why a page left the page cache, or memory. */
enum evictions_reason {
	EVICTIONS_UNKNOWN,   /* an old recording */
	EVICTIONS_RECLAIMED, /* memory was short */
	EVICTIONS_DROPPED,   /* requested: advice, truncation, drop_caches, … */
	EVICTIONS_PROACTIVE, /* requested: a write to memory.reclaim */
	EVICTIONS_NR_REASONS
};

#define EVICTIONS_REASON_NAMES { "unknown", "reclaimed", "dropped", "proactive" }

/* Pages read again. */
struct evictions_sum {
	uint64_t pages;	   /* read again, including readahead */
	uint64_t faults;   /* on such a page: class disk, wait or readahead, or major */
	uint64_t total_ns; /* among these faults */
};

struct evictions_pair {
	enum evictions_reason reason;
	uint32_t evictor; /* process removing the pages, possibly kswapd */
	char evictor_name[16];
	uint32_t victim;    /* process needing them again, 0 for several others */
	uint16_t doing;	    /* enum pfstat_waker; UNKNOWN if the pages were reclaimed */
	bool anon;	    /* anonymous memory that went to swap, else pages of files */
	bool evictor_swaps; /* pages of the evictor were swapped out */
	/* As in struct evictions_sum. Of swap, `pages` counts those with a fault. */
	uint64_t pages, faults, total_ns;
};

/* True for an entry of the rest. Then it is not known if the victim is also the evictor. */
static inline bool evictions_is_others(const struct evictions_pair *pair)
{
	return !pair->evictor && !strcmp(pair->evictor_name, EVICTIONS_OTHERS);
}

static inline bool evictions_is_itself(const struct evictions_pair *pair)
{
	return pair->evictor == pair->victim && !evictions_is_others(pair);
}

#define EVICTIONS_POINTS 32

/*
 * Which faults on reclaimed pages, of files and of anonymous memory, more memory would have
 * avoided, see memory_curve.h.
 */
struct evictions_curve {
	struct memory_curve_figures figures;
	/* Equal steps up to as many pages as were out at once. None without such faults. */
	struct memory_curve_point points[EVICTIONS_POINTS];
	size_t nr_points;
};

struct evictions_figures {
	uint64_t evicted;  /* removed file pages read by a target before, for any evictor */
	uint64_t overflow; /* among these, no longer stored: their fate is not known */
	struct evictions_sum again[EVICTIONS_NR_REASONS]; /* for all pairs of file pages */
	struct swap_outs_figures swaps; /* pages of the curve that are no file's */
	struct evictions_curve curve;
};

struct evictions;

/*
 * Default memory for marks: 8 MiB of a file take about 200 bytes if they are evicted at once. The
 * curve for more memory takes up to half as much in addition.
 */
#define EVICTIONS_MEMORY (16U << 20)

/* @memory: limit on memory for all marks, in bytes */
struct evictions *evictions_new(uint64_t page_bytes, size_t memory);
void evictions_free(struct evictions *evictions);

/* Adds items in time order. Returns 0 or -ENOMEM. */
int evictions_remove(struct evictions *evictions, const struct pfstat_page *page);
int evictions_add_read(struct evictions *evictions, const struct pfstat_block *block);
/* Another file has the inode from now on: the pages of the old one cannot come back. */
int evictions_end_file(struct evictions *evictions, uint32_t dev, uint64_t inode);
int evictions_add_fault(struct evictions *evictions, const struct explained *fault);
/* Forgets the swapped-out pages of a process that ends, or executes another program. */
int evictions_add_task(struct evictions *evictions, const struct pfstat_task *task);
/* What a swap-in or the end of a process changes, see swap_outs.c. */
struct swap_outs *evictions_swaps(struct evictions *evictions);

void evictions_figures(const struct evictions *evictions, struct evictions_figures *figures);
/* Returns a copy with most pages first. The caller frees *pairs. Returns 0 or -ENOMEM. */
int evictions_pairs(const struct evictions *evictions, struct evictions_pair **pairs, size_t *nr);

#endif
