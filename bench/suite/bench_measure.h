/* SPDX-License-Identifier: GPL-2.0-only */
/* The runs for one operation, in the worker process. */
#ifndef PFSTAT_USER_BENCH_MEASURE_H
#define PFSTAT_USER_BENCH_MEASURE_H

#include "bench/suite/core/operation.h"
#include "util/why.h"

#define MEASURE_MAX_RUNS 64

/* Memory shared by the worker and pfdrive. */
struct measured {
	bool finished;
	int err;
	struct why why;	     /* reason for err */
	uint64_t operations; /* per run */
	uint64_t bytes;	     /* see struct bench */
	size_t runs;
	double ns[MEASURE_MAX_RUNS]; /* per operation, for each run */
	double cycles[MEASURE_MAX_RUNS];
	uint64_t all_operations;   /* in all runs */
	struct bench_counts usage; /* getrusage(2) counts in all runs */
	uint64_t elapsed_ns;
	uint64_t brackets; /* timed parts in the last run */
};

struct measure_plan {
	uint64_t budget_ns; /* for the whole row: no run starts after it */
	size_t runs;
};

/* Calibrates, warms up and repeats. Fills in @measured after each run. */
void bench_measure(struct bench *bench, const struct measure_plan *plan, struct measured *measured);

#endif
