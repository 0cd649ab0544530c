/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number and times of logical faults in one class, with histograms for each part. Pure: input
 * is the faults from explain.h, and the reports read the figures.
 */
#ifndef PFSTAT_USER_CLASS_FAULTS_H
#define PFSTAT_USER_CLASS_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "util/statistics.h"

struct part_figures {
	uint64_t faults; /* faults with some of it; all for the whole; reads for block_figures */
	uint64_t total_ns;
	uint64_t p50_ns, p99_ns; /* over all faults in the class, including those with 0 */
	uint64_t max_ns;
	uint64_t p999_ns, p9999_ns; /* the same, COUNT_NA if too few faults */
};

/* With fewer values, the percentile is only the longest one. */
#define P999_LEAST  1000U
#define P9999_LEAST 10000U

/* Logical faults in one class. */
struct fault_figures {
	uint64_t count;
	uint64_t major;
	uint64_t unsolved;	   /* part of count */
	uint64_t calls_only;	   /* part of count: without the time outside their calls */
	uint64_t pages;		   /* mapped pages, as far as known */
	struct part_figures whole; /* end - start */
	struct part_figures parts[NR_PARTS];
	uint64_t reclaim_cpu_ns; /* part of PART_RECLAIM, the rest is off-CPU */
};

/* CPU time, without CPU time in PART_RECLAIM. */
static inline uint64_t fault_figures_cpu_ns(const struct fault_figures *figures)
{
	return figures->parts[PART_CPU_BEFORE].total_ns + figures->parts[PART_CPU_AFTER].total_ns +
	       figures->parts[PART_MM].total_ns;
}

/* All zero is a class without faults. A fault without a part is not in the part's histogram. */
struct class_faults {
	uint64_t count, major, unsolved, calls_only, pages;
	uint64_t had[NR_PARTS + 1];	 /* number of faults with some of the part */
	uint64_t total_ns[NR_PARTS + 1]; /* [NR_PARTS]: the whole */
	uint64_t reclaim_cpu_ns;
	struct quantiles quantiles[NR_PARTS + 1];
};

void class_faults_exit(struct class_faults *class);
/* Returns 0 or -ENOMEM. */
int class_faults_add(struct class_faults *class, const struct explained *fault);
/* Adds a 0 to each histogram for every fault without the part. 0 or -ENOMEM. */
int class_faults_add_zeros(struct class_faults *class);
/* Fills in the figures for nr classes as one. */
void class_faults_fill(const struct class_faults *classes, size_t nr,
		       struct fault_figures *figures);
/* @count: number of values, including values in no histogram, which count as 0 */
void part_figures_fill(struct part_figures *figures, const struct quantiles *const *several,
		       size_t nr, uint64_t count, uint64_t total_ns);

/*
 * The number, bytes and times of the targets' block requests. Pure: input is the requests in
 * completion order, and the reports read the figures.
 */

/* Service time (issue to completion) for the targets' requests. */
struct block_figures {
	uint64_t reads, writes, errors;
	uint64_t bytes_read, bytes_written;
	struct part_figures queue, device; /* for reads */
};

/* All zero is empty. */
struct block_totals {
	struct block_figures figures; /* without the percentiles */
	struct quantiles queue, device;
};

void block_totals_exit(struct block_totals *totals);
/* Returns 0 or -ENOMEM. */
int block_totals_add(struct block_totals *totals, const struct pfstat_block *block);
void block_totals_fill(const struct block_totals *totals, struct block_figures *figures);

#endif
