/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's counts and times for each row. After all rows are measured, each row's operations
 * run once more, watched by eBPF and a fault source, so watching disturbs no figure.
 */
#ifndef PFSTAT_USER_WITNESS_H
#define PFSTAT_USER_WITNESS_H

#include "bench/suite/bench_results.h"

/*
 * Fills row.seen and judges the claims. If nothing can be watched, results->not_watched has the
 * reason. Returns 0, -EINTR (a signal is pending) or another negative errno.
 */
int witness_watch(struct bench_results *results);

#endif
