/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that measures one row. The process's memory, helpers and files disappear with it, and
 * it is killed at the time limit.
 */
#ifndef PFSTAT_USER_WORKER_H
#define PFSTAT_USER_WORKER_H

#include "bench/suite/bench_measure.h"

struct worker {
	pid_t pid;
	int from, to; /* a watched worker's pipes, else -1 */
	struct measured *measured;
};

struct worker_job {
	const struct bench_operation *operation;
	size_t point;
	const struct bench_options *options;
	const struct bench_machine *machine;
	struct measure_plan plan;
	uint64_t limit_ns; /* after which it is killed */
};

/*
 * Measures a row. A failure of the operation is in measured->err and ->why. Returns 0, -EINTR
 * (a signal is pending) or another negative errno if no worker could be started.
 */
int worker_measure(const struct worker_job *job, struct measured *measured);

/* The states a watched worker reports. */
enum worker_step {
	WORKER_STARTS, /* a timed part begins when the worker is let go on */
	WORKER_STOPS,  /* the timed part has ended */
	WORKER_DONE,   /* all done, measured holds the result */
};

/*
 * A worker that is watched while it makes n operations. worker_begin() starts the process, which
 * waits before doing anything. Each worker_next() lets the worker go on to the next step. The
 * worker prepares and warms up first. After WORKER_DONE, measured->err is set if the operation
 * failed.
 */
int worker_begin(struct worker *worker, const struct worker_job *job, uint64_t n);
int worker_next(struct worker *worker, const struct worker_job *job, enum worker_step *step);
void worker_end(struct worker *worker);

#endif
