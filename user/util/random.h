/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xoshiro256**, seeded by splitmix64: David Blackman and Sebastiano Vigna, "Scrambled
 * Linear Pseudorandom Number Generators", ACM Transactions on Mathematical Software 47(4),
 * 2021; constants from their public-domain code at prng.di.unimi.it. Inline and without
 * calls, for the access loop.
 */
#ifndef PFSTAT_USER_RANDOM_H
#define PFSTAT_USER_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t s[4];
	uint64_t bound;
};

static inline uint64_t random_splitmix(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline struct random random_begin(uint64_t seed, uint64_t bound)
{
	struct random random = { .bound = bound };
	int i;

	for (i = 0; i < 4; i++)
		random.s[i] = random_splitmix(&seed);
	return random;
}

static inline __attribute__((always_inline)) uint64_t random_rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline __attribute__((always_inline)) uint64_t random_u64(struct random *random)
{
	uint64_t *s = random->s;
	uint64_t result = random_rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotate(s[3], 45);
	return result;
}

/*
 * Returns 0 … bound - 1, the high half of a 128-bit product. The probabilities differ by at
 * most bound / 2^64: 3 * 10^-12 for a 44 MiB file.
 */
static inline __attribute__((always_inline)) uint64_t random_below(struct random *random)
{
	return ((__uint128_t)random_u64(random) * random->bound) >> 64;
}

#endif
