/* SPDX-License-Identifier: GPL-2.0-only */
/* Times are CLOCK_MONOTONIC in nanoseconds, the clock used by the module and eBPF. */
#ifndef PFSTAT_USER_TIME_NS_H
#define PFSTAT_USER_TIME_NS_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* In nanoseconds. */
#define MICROSECOND 1000ULL
#define MILLISECOND 1000000ULL
#define SECOND	    1000000000ULL

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Converts getrusage(2) times. */
static inline uint64_t clock_timeval_ns(struct timeval time)
{
	return time.tv_sec * SECOND + time.tv_usec * MICROSECOND;
}

#endif
