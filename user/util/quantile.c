// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log-linear histogram of times, with quantiles. The analysis adds times, and the reports read
 * quantiles. The sum over all buckets is always `count`.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/quantile.h"

#define RANGE_BITS 10
#define RANGE_SIZE (1U << RANGE_BITS) /* number of buckets */

struct quantile_place {
	unsigned int range, bucket;
};

static struct quantile_place quantile_place_of(uint64_t ns)
{
	unsigned int exponent;

	if (ns < RANGE_SIZE)
		return (struct quantile_place){ 0, ns };
	exponent = 63 - __builtin_clzll(ns);
	return (struct quantile_place){
		.range = exponent - RANGE_BITS + 1,
		.bucket = (ns >> (exponent - RANGE_BITS)) - RANGE_SIZE,
	};
}

/* The greatest time in the bucket. The last edge wraps to 2^64 - 1. */
static uint64_t upper_edge(struct quantile_place place)
{
	if (place.range == 0)
		return place.bucket;
	return (((uint64_t)RANGE_SIZE + place.bucket + 1) << (place.range - 1)) - 1;
}

/* The least time in the bucket. */
static uint64_t lower_edge(struct quantile_place place)
{
	if (place.range == 0)
		return place.bucket;
	return ((uint64_t)RANGE_SIZE + place.bucket) << (place.range - 1);
}

void quantile_exit(struct quantiles *quantiles)
{
	unsigned int i;

	for (i = 0; i < QUANTILE_RANGES; i++) {
		free(quantiles->ranges[i]);
		quantiles->ranges[i] = NULL;
	}
	quantiles->count = 0;
	quantiles->max_ns = 0;
}

int quantile_add(struct quantiles *quantiles, uint64_t ns)
{
	return quantile_add_many(quantiles, ns, 1);
}

int quantile_add_many(struct quantiles *quantiles, uint64_t ns, uint64_t times)
{
	struct quantile_place place = quantile_place_of(ns);
	uint64_t **range = &quantiles->ranges[place.range];

	if (!*range) {
		*range = calloc(RANGE_SIZE, sizeof(**range));
		if (!*range)
			return -ENOMEM;
	}
	(*range)[place.bucket] += times;
	quantiles->count += times;
	if (ns > quantiles->max_ns)
		quantiles->max_ns = ns;
	return 0;
}

static uint64_t count_at(const struct quantiles *const *several, size_t nr,
			 struct quantile_place place)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		if (several[i]->ranges[place.range])
			count += several[i]->ranges[place.range][place.bucket];
	return count;
}

static uint64_t rank_of(uint64_t count, unsigned int per_10000)
{
	/* 128 bits: the product must not overflow. */
	uint64_t rank = ((__uint128_t)count * per_10000 + 9999) / 10000;

	return rank ? rank : 1;
}

uint64_t quantile_of(const struct quantiles *const *several, size_t nr, unsigned int per_10000)
{
	return quantile_with_zeros(several, nr, 0, per_10000);
}

uint64_t quantile_with_zeros(const struct quantiles *const *several, size_t nr, uint64_t zeros,
			     unsigned int per_10000)
{
	uint64_t count = zeros, max_ns = 0, below = zeros, rank, edge;
	struct quantile_place place;
	size_t i;

	for (i = 0; i < nr; i++) {
		count += several[i]->count;
		if (several[i]->max_ns > max_ns)
			max_ns = several[i]->max_ns;
	}
	if (!count)
		return 0;

	rank = rank_of(count, per_10000);
	if (rank <= zeros)
		return 0;
	for (place.range = 0; place.range < QUANTILE_RANGES; place.range++) {
		for (place.bucket = 0; place.bucket < RANGE_SIZE; place.bucket++) {
			below += count_at(several, nr, place);
			if (below < rank)
				continue;
			edge = upper_edge(place);
			return edge < max_ns ? edge : max_ns;
		}
	}
	return max_ns;
}

bool quantile_next(const struct quantiles *quantiles, unsigned int *cursor,
		   struct quantile_bucket *bucket)
{
	struct quantile_place place;
	const uint64_t *range;

	while (*cursor < QUANTILE_RANGES * RANGE_SIZE) {
		place = (struct quantile_place){ *cursor / RANGE_SIZE, *cursor % RANGE_SIZE };
		range = quantiles->ranges[place.range];
		if (!range) {
			*cursor = (place.range + 1) * RANGE_SIZE;
			continue;
		}
		(*cursor)++;
		if (!range[place.bucket])
			continue;
		bucket->low_ns = lower_edge(place);
		bucket->high_ns = upper_edge(place);
		bucket->count = range[place.bucket];
		return true;
	}
	return false;
}
