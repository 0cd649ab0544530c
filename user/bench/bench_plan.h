/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows are measured. Pure. */
#ifndef PFSTAT_USER_BENCH_PLAN_H
#define PFSTAT_USER_BENCH_PLAN_H

#include "bench/bench_results.h"

/*
 * Adds a row for each point of each operation that a name means, and of those that they
 * are made of. A name: an operation's, a family's ("cpu"), or a shell's pattern
 * ("switch.*"); none at all: everything. -ENOENT: *unknown means nothing; -ENOMEM.
 */
int bench_plan_rows(struct bench_results *results, char *const *names, size_t nr_names,
		    const char **unknown);

/* Whether there is a row of that name, or rows of an operation of that name. */
bool bench_plan_knows(const char *name);

#endif
