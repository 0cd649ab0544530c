/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the planned rows one by one. */
#ifndef PFSTAT_USER_SUITE_H
#define PFSTAT_USER_SUITE_H

#include "bench/suite/bench_results.h"
#include "bench/suite/worker.h"

/* Measures all rows. Shows the progress on stderr if stderr is a terminal. */
int suite_measure(struct bench_results *results);

/* The job to measure a row. The witness repeats the job. */
struct worker_job suite_job(const struct bench_results *results, const struct bench_row *row);

/* Computes a row's figures from the worker's runs. 0 or -ENOMEM. */
int suite_fill(struct bench_results *results, struct bench_row *row,
	       const struct measured *measured);

#endif
