/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's counters, without samples: page faults, and the processor's caches. */
#ifndef PFSTAT_USER_PERF_COUNTERS_H
#define PFSTAT_USER_PERF_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/accounts/hw_counts.h"
#include "util/why.h"

/* perf's own page fault counts, for processes and their descendants. */

struct perf_faults;

/* -ENOMEM. */
int perf_faults_open(struct perf_faults **counters);
void perf_faults_close(struct perf_faults *counters);

/*
 * Counts faults in all the process's threads from now on, in user and kernel mode. inherit: also in
 * threads and processes they create from now on. On failure returns a negative errno, and the
 * counts stay unknown.
 */
int perf_faults_watch(struct perf_faults *counters, pid_t pid, bool inherit);

/*
 * Like the call above for one thread only, in two steps. Some kernels (Debian's, by their
 * perf_event_paranoid default) require privileges for the first step that the measurement drops
 * later.
 */
int perf_faults_hold_thread(struct perf_faults *counters, pid_t tid);
void perf_faults_release_thread(struct perf_faults *counters);
/* Stops counting. The counts can still be read. */
void perf_faults_stop(struct perf_faults *counters);

/* Sums over all watched threads, including exited ones. COUNT_NA: not known. */
void perf_faults_read(const struct perf_faults *counters, uint64_t *faults, uint64_t *minor,
		      uint64_t *major);

/*
 * The processor's L1D and data TLB counters for the calling thread in user mode, by
 * perf_event_open(2). Accesses and misses for one operation are a group: they count at the same
 * times, so their ratio holds even if other groups take turns with them.
 */

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
