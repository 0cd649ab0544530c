/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process in which one row is measured: whatever it does, breaks or leaves behind
 * ends with it; and it ends in time.
 */
#ifndef PFSTAT_USER_WORKER_H
#define PFSTAT_USER_WORKER_H

#include "bench/bench_measure.h"

struct worker {
	pid_t pid;
	int from, to;		/* pipes of a watched one; -1: none */
	struct measured *measured;
};

struct worker_job {
	const struct bench_operation *operation;
	size_t point;
	const struct bench_options *options;
	const struct bench_machine *machine;
	struct measure_plan plan;
	uint64_t limit_ns;	/* then it is killed */
};

/*
 * Measures. What goes wrong with the operation is in measured->err and ->why;
 * -EINTR: a signal wants the program to end; or what else prevents a worker.
 */
int worker_measure(const struct worker_job *job, struct measured *measured);

/* What a watched worker has come to, as it says itself. */
enum worker_step {
	WORKER_STARTS,		/* a timed part: it goes on when it is told to */
	WORKER_STOPS,		/* likewise, its end */
	WORKER_DONE,		/* with everything; measured holds what it did */
};

/*
 * For who wants to watch n operations: begin starts the process, which waits before it
 * does anything at all. Each next lets it go on to its next step: it prepares and warms up
 * first, unwatched. After WORKER_DONE a measured->err tells that the operation failed.
 */
int worker_begin(struct worker *worker, const struct worker_job *job, uint64_t n);
int worker_next(struct worker *worker, const struct worker_job *job, enum worker_step *step);
void worker_end(struct worker *worker);

#endif
