/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The five experiments from the page-fault study: the published counts, the counts of a run (the
 * JSON that pfdrive wrote), and the counts predicted for the run by the kernel's read-ahead rule.
 */
#ifndef PFSTAT_USER_FAULT_EXPERIMENTS_H
#define PFSTAT_USER_FAULT_EXPERIMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/prediction/prediction.h"
#include "model/environment.h"
#include "workload/pattern.h"

struct fault_counts {
	uint64_t disk;	/* calls returning without a page: the study's disk faults */
	uint64_t marks; /* disk faults submitting the next window without waiting */
	uint64_t longs; /* the page was in the cache */
};

enum {
	FAULT_RANDOM_COLD,
	FAULT_RANDOM_WARM,
	FAULT_SEQUENTIAL,
	FAULT_STRIDE_4K,
	FAULT_STRIDE_256K,
	NR_FAULT_EXPERIMENTS
};

extern const struct fault_experiment {
	const char *name; /* names the run's files */
	const char *figure;
	struct fault_counts published;
} fault_experiments[NR_FAULT_EXPERIMENTS];

struct fault_run {
	struct environment environment;
	struct fault_counts counts;
	uint64_t waits;	 /* disk faults on a page still being read */
	uint64_t faults; /* page faults, or fewer than pages if one fault maps several */
	uint64_t lost;	 /* records */
};

/*
 * Reads FOLDER/NAME.json. -ENODATA: it is not a run, or a run with fault-around. Other results: 0
 * or a negative errno.
 */
int fault_run_load(struct fault_run *run, const char *folder, const char *name);

/*
 * Predicts the counts with the read-ahead rule of the run's kernel. -EINVAL: unknown pattern.
 * -ENOMEM
 */
int fault_run_simulate(const struct fault_run *run, struct fault_counts *counts);

/*
 * Counts for pages of a file first accessed in this order, without fault-around. @warm: all pages
 * are in the cache. -ENOMEM
 */
int fault_counts_simulate(struct fault_counts *counts, const struct readahead_rule *rule,
			  uint64_t file_pages, bool warm, const uint32_t *order, uint64_t pages);

/* The order in which a fitted pattern first accesses the pages: free it. -ENOMEM */
int fault_experiment_order(const struct pattern *pattern, uint32_t **order, uint64_t *pages);

#endif
