/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processor's L1D and data TLB counters for the calling thread in user mode, by
 * perf_event_open(2). Accesses and misses for one operation are a group: they count at the same
 * times, so their ratio holds even if other groups take turns with them.
 */
#ifndef PFSTAT_USER_PERF_HARDWARE_H
#define PFSTAT_USER_PERF_HARDWARE_H

#include <linux/perf_event.h>

#include "analyze/accounts/hw_counts.h"
#include "util/why.h"

struct perf_hardware;

/* Sets type and config: which event stands for which count. */
typedef void (*hardware_choose)(struct perf_event_attr *attr, enum hw_cache cache, enum hw_op op,
				enum hw_result result);

/* Chooses the enum hw_cache ones. Others are for tests. */
void perf_hardware_choose_cache(struct perf_event_attr *attr, enum hw_cache cache, enum hw_op op,
				enum hw_result result);

/*
 * Opens the existing counters, stopped. counts holds the reason for each missing one. counts
 * belongs to the caller, and must outlive hardware. -ENOMEM.
 */
int perf_hardware_open(struct perf_hardware **hardware, struct hw_counts *counts,
		       hardware_choose choose);
/*
 * Around the loop, in the same thread: one system call each, which turns all this thread's counters
 * on, or off.
 */
void perf_hardware_begin(const struct perf_hardware *hardware);
void perf_hardware_end(const struct perf_hardware *hardware);
/* Fills counts. */
int perf_hardware_read(struct perf_hardware *hardware);
void perf_hardware_close(struct perf_hardware *hardware);

/* Explains a perf_event_open(2) error in one clause. */
void perf_hardware_explain(int err, struct why *why);

#endif
