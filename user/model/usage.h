/* SPDX-License-Identifier: GPL-2.0-only */
/* The getrusage(2) figures for a run's measured part, COUNT_NA if not known. */
#ifndef PFSTAT_USER_USAGE_H
#define PFSTAT_USER_USAGE_H

#include <stdint.h>
#include <sys/resource.h>

struct usage {
	uint64_t utime_ns, stime_ns;
	uint64_t minflt, majflt, inblock, oublock, nvcsw, nivcsw;
	uint64_t maxrss_bytes; /* the peak, not a difference */
};

/* Sets every figure to COUNT_NA. */
void usage_init(struct usage *usage);
/* The difference between an earlier and a later getrusage(2) call. */
struct usage usage_between(const struct rusage *before, const struct rusage *after);
/* Adds another part of the same run. All figures in both must be known. */
void usage_add(struct usage *sum, const struct usage *part);

#endif
