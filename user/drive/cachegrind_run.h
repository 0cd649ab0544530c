/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulates a run's accesses with valgrind's cachegrind, for machines without a PMU. It runs
 * `pfdrive helper loop' with the same options, once with the accesses and once without. The
 * difference belongs to the loop.
 */
#ifndef PFSTAT_USER_CACHEGRIND_RUN_H
#define PFSTAT_USER_CACHEGRIND_RUN_H

#include "analyze/accounts/cache_simulation.h"

/* arguments: the drive's, ended by NULL. STATUS_OK, or the exit status after a message. */
int cachegrind_run(struct cache_simulation *simulation, char *const *arguments);
void cachegrind_run_exit(struct cache_simulation *simulation);

#endif
