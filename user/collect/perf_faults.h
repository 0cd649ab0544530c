/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's own page fault counts, for processes and their descendants. */
#ifndef PFSTAT_USER_PERF_FAULTS_H
#define PFSTAT_USER_PERF_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
