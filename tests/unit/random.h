/* SPDX-License-Identifier: GPL-2.0-only */
/* A generator with the same numbers on every machine, so a failure can be repeated. */
#ifndef PFSTAT_TESTS_RANDOM_H
#define PFSTAT_TESTS_RANDOM_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

#endif
