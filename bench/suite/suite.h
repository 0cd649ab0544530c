/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the rows of the plan one by one. */
#ifndef PFSTAT_USER_SUITE_H
#define PFSTAT_USER_SUITE_H

#include "bench/suite/bench_results.h"
#include "bench/suite/worker.h"

/* Measures all rows; shows the progress on stderr if that is a terminal. */
int suite_measure(struct bench_results *results);

/* The job that measures a row; the witness repeats it. */
struct worker_job suite_job(const struct bench_results *results, const struct bench_row *row);

/* Computes the figures of a row from the runs of its worker. 0 or -ENOMEM. */
int suite_fill(struct bench_results *results, struct bench_row *row,
	       const struct measured *measured);

#endif
