/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_BENCH_CLOCK_H
#define PFSTAT_USER_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#endif
