// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures merging the rings by time, with four million records in the rings of 4 to 512 CPUs: in
 * random order, in bursts of 64 records from one CPU, and with one CPU busy at a time.
 *
 *	bench_merge
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/random.h"
#include "user/collect/time_order.h"
#include "user/util/array.h"

#define NR_RECORDS  4000000U
#define DISTANCE_NS 300

enum order { RANDOM, BURSTS, ONE_BUSY, NR_ORDERS };

static const char *const names[NR_ORDERS] = { "random", "bursts", "one CPU busy" };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int sum_up(void *sum, const struct merged_record *merged)
{
	*(uint64_t *)sum += merged->record->pgoff;
	return 0;
}

static void fill_ring(struct record_ring *ring, uint64_t ns, uint64_t range_ns, enum order order,
		      uint64_t *state)
{
	struct pfstat_record *record = (void *)ring->data;
	uint64_t gap_ns;

	for (; ring->limit < ring->capacity; record++) {
		record->start_ns = ns;
		record->pgoff = ring->limit;
		record->sequence = ++ring->limit;
		gap_ns = random_next(state) % range_ns;
		if (order == BURSTS)
			gap_ns = ring->limit % 64 ? DISTANCE_NS : 64 * gap_ns;
		ns += order == ONE_BUSY ? DISTANCE_NS : gap_ns;
	}
}

static void measure(unsigned int nr_rings, enum order order)
{
	const uint64_t capacity = NR_RECORDS / nr_rings, range_ns = 2 * nr_rings * DISTANCE_NS;
	struct pfstat_record *data = calloc(nr_rings * capacity, sizeof(*data));
	struct pfstat_ring_header *headers = calloc(nr_rings, sizeof(*headers));
	struct record_ring *rings = calloc(nr_rings, sizeof(*rings));
	struct record_merge merge;
	uint64_t state = 1, sum = 0;
	unsigned int i;
	double start;

	if (!data || !headers || !rings || record_merge_init(&merge, rings, nr_rings))
		exit(1);
	for (i = 0; i < nr_rings; i++) {
		rings[i] = (struct record_ring){
			.header = &headers[i],
			.data = data + i * capacity,
			.capacity = capacity,
		};
		fill_ring(&rings[i], order == ONE_BUSY ? i * capacity * DISTANCE_NS : 0, range_ns,
			  order, &state);
	}
	start = now();
	record_merge_pass(&merge, UINT64_MAX, sum_up, &sum);
	printf("%-13s %3u CPUs: %5.1f ns, %4.1f steps\n", names[order], nr_rings,
	       (now() - start) * 1e9 / (nr_rings * capacity),
	       (double)merge.steps / (nr_rings * capacity));
	record_merge_exit(&merge);
	free(data);
	free(headers);
	free(rings);
}

int main(void)
{
	static const unsigned int nr_rings[] = { 4, 16, 128, 512 };
	enum order order;
	size_t i;

	for (order = 0; order < NR_ORDERS; order++)
		for (i = 0; i < ARRAY_SIZE(nr_rings); i++)
			measure(nr_rings[i], order);
	return 0;
}
