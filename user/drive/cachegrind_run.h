/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulates the accesses of a run with valgrind's cachegrind, for machines without a PMU: `pfdrive
 * helper loop' with the same options, once with its accesses and once without. The difference is
 * the loop's.
 */
#ifndef PFSTAT_USER_CACHEGRIND_RUN_H
#define PFSTAT_USER_CACHEGRIND_RUN_H

#include "analyze/accounts/cache_simulation.h"

/* arguments: the drive's, ended by NULL. STATUS_OK, or the exit status after a message. */
int cachegrind_run(struct cache_simulation *simulation, char *const *arguments);
void cachegrind_run_exit(struct cache_simulation *simulation);

#endif
