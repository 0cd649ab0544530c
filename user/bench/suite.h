/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the rows of a plan, one after the other. */
#ifndef PFSTAT_USER_SUITE_H
#define PFSTAT_USER_SUITE_H

#include "bench/bench_results.h"
#include "bench/worker.h"

/* Says on stderr what is being measured, where that is a terminal. */
int suite_measure(struct bench_results *results);

/* For one more look at a measured row: the same job. */
struct worker_job suite_job(const struct bench_results *results, const struct bench_row *row);

/* A row's figures from the runs of its worker. 0 or -ENOMEM. */
int suite_fill(struct bench_results *results, struct bench_row *row,
	       const struct measured *measured);

#endif
