/* SPDX-License-Identifier: GPL-2.0-only */
/* Swap: how much of it there is, and what eBPF has counted of it. */
#ifndef PFSTAT_USER_SWAP_COUNTERS_H
#define PFSTAT_USER_SWAP_COUNTERS_H

#include "model/counters.h"

/* Of all swap areas. */
uint64_t swap_total_pages(void);

/* By the file descriptors of the maps; fills swap_rows. 0 or a negative errno. */
int swap_counters_read(int pairs, int names, struct run_counters *counters);

#endif
