/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's own counts of page faults, of processes and of what they fork. */
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
 * Counts from here on, in user and kernel mode, what all threads of the process do;
 * inherit: and those, and the processes, that they create from now on. On failure a
 * negative errno, and the counts are not to be had any more.
 */
int perf_faults_watch(struct perf_faults *counters, pid_t pid, bool inherit);

/*
 * The same of one thread alone, in two steps: some kernels (Debian's, by their default of
 * perf_event_paranoid) want more rights for the first than who measures has to keep.
 */
int perf_faults_hold_thread(struct perf_faults *counters, pid_t tid);
void perf_faults_release_thread(struct perf_faults *counters);
/* Counts no more; what was counted stays to be read. */
void perf_faults_stop(struct perf_faults *counters);

/* Of all that were watched, also after their end; COUNT_NA: not to be had. */
void perf_faults_read(const struct perf_faults *counters, uint64_t *faults, uint64_t *minor,
		      uint64_t *major);

#endif
