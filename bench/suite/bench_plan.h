/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows to measure. Pure. */
#ifndef PFSTAT_USER_BENCH_PLAN_H
#define PFSTAT_USER_BENCH_PLAN_H

#include "bench/suite/bench_results.h"

/*
 * Adds a row for each point of each operation that a name matches, and of the operations used to
 * correct or derive these. A name is an operation, a family ("cpu") or a shell pattern
 * ("switch.*"). Without names, all operations are added. -ENOENT: *unknown matches nothing.
 * -ENOMEM.
 */
int bench_plan_rows(struct bench_results *results, char *const *names, size_t nr_names,
		    const char **unknown);

/* True if a row or an operation may have that name, on this machine or another. */
bool bench_plan_knows(const char *name);

#endif
