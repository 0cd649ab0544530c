/* SPDX-License-Identifier: GPL-2.0-only */
/* The runs of one operation, in its own process. */
#ifndef PFSTAT_USER_BENCH_MEASURE_H
#define PFSTAT_USER_BENCH_MEASURE_H

#include "bench/core/operation.h"

#define MEASURE_MAX_RUNS 64

/* Lies in memory that is shared with who waits for it. */
struct measured {
	bool finished;
	int err;
	char why[BENCH_WHY];	/* of an error */
	uint64_t operations;	/* a run's */
	uint64_t bytes;		/* of an operation, see struct bench */
	size_t runs;
	double ns[MEASURE_MAX_RUNS];		/* of an operation, each run's */
	double cycles[MEASURE_MAX_RUNS];
	uint64_t all_operations;	/* of all runs, and what getrusage(2) counted in them */
	struct bench_counts usage;
	uint64_t elapsed_ns;
	uint64_t brackets;	/* of the last run */
};

struct measure_plan {
	uint64_t budget_ns;	/* for all of it; runs end early rather than late */
	size_t runs;
};

/* Calibrates, warms up, repeats. Fills in as it goes. */
void bench_measure(struct bench *bench, const struct measure_plan *plan, struct measured *measured);

#endif
