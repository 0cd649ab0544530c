/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel sees of an operation: after all is measured, each row's operations are
 * made once more, watched by eBPF and the module, which would have disturbed them before.
 */
#ifndef PFSTAT_USER_WITNESS_H
#define PFSTAT_USER_WITNESS_H

#include "bench/bench_results.h"

/*
 * Fills row.seen, and judges; where nothing can be watched, results->not_watched says
 * why. -EINTR: a signal wants the program to end; or what else prevents going on.
 */
int witness_watch(struct bench_results *results);

#endif
