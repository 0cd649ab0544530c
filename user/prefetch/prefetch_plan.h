/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the extents for a prefetch list from the pages that several recordings needed: which pages
 * are in enough recordings, in which order, and the time each extent avoids for its size.
 */
#ifndef PFSTAT_USER_PREFETCH_PLAN_H
#define PFSTAT_USER_PREFETCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extents end at multiples of this size (1 MiB), so a long one does not hide the order of use. */
#define PREFETCH_EXTENT_PAGES 256U
#define PREFETCH_USES_MAX     (1U << 23)
#define PREFETCH_RUNS_MAX     64U

/* A page one recording needed. */
struct prefetch_use {
	uint64_t pgoff;
	uint64_t fault_ns, read_ns; /* see needed_pages.h */
	uint32_t file;		    /* any number; extents with the same rank are sorted by it */
	uint32_t run;
	uint32_t rank; /* by first use in this recording */
};

struct prefetch_extent {
	uint64_t pgoff, pages;
	uint64_t rank;		    /* of the first page: twice the median over the recordings */
	uint64_t fault_ns, read_ns; /* means over all recordings */
	uint32_t file;
	bool kept; /* false: --max-size cut it */
};

struct prefetch_plan {
	struct prefetch_use *uses;
	size_t nr_uses, room;
	struct prefetch_extent *extents; /* in order of first use */
	size_t nr_extents;
	uint64_t pages_seen; /* in any recording */
};

/* Part of a plan. */
struct prefetch_sum {
	uint64_t extents, pages, fault_ns, read_ns;
};

/* All zero is an empty plan. */
void prefetch_plan_exit(struct prefetch_plan *plan);
/* Returns 0, -ENOMEM, or -E2BIG beyond PREFETCH_USES_MAX. */
int prefetch_plan_add(struct prefetch_plan *plan, const struct prefetch_use *use);
/*
 * Makes the extents, from the pages needed in at least min_runs recordings. Returns 0 or -ENOMEM.
 */
int prefetch_plan_make(struct prefetch_plan *plan, unsigned int nr_runs, unsigned int min_runs);
/* Keeps the extents that avoid most time for their size, up to this many pages. 0 or -ENOMEM. */
int prefetch_plan_cut(struct prefetch_plan *plan, uint64_t max_pages);
/* Adds up the kept extents, or the others. */
struct prefetch_sum prefetch_plan_sum(const struct prefetch_plan *plan, bool kept);
/*
 * The size-benefit curve, over all extents: the fewest pages that avoid this share of the time, in
 * the order in which prefetch_plan_cut() keeps extents. Returns 0 or -ENOMEM.
 */
int prefetch_plan_curve(const struct prefetch_plan *plan, const unsigned int *percents, size_t nr,
			struct prefetch_sum *sums);

#endif
