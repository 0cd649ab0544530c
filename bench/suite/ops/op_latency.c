// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory latency: each load needs the address from the load before. The pointers form one random
 * cycle through all slots, so no prefetcher can predict them and no slot is skipped:
 *
 *	slot 0 --> slot 5 --> slot 2 --> … --> slot 0		slots are a stride apart
 */
#include <errno.h>
#include <stdio.h>

#include "bench/suite/core/bench_memory.h"
#include "bench/suite/ops/op_registry.h"
#include "util/array.h"
#include "util/random.h"
#include "util/text.h"

#define SMALLEST	  4096ULL
#define LARGEST		  (512ULL << 20)
#define LARGEST_QUICK	  (64ULL << 20)
#define UNKNOWN_CACHE	  (32ULL << 20)
#define TIMES_CACHE	  4
#define TIMES_CACHE_QUICK 2
#define SEED		  1

/* Cache sizes are inferred from the first. --quick uses the first and the last. */
static const uint64_t strides[] = { 64, 512, 4096 };
#define NR_STRIDES	 ARRAY_SIZE(strides)
#define NR_STRIDES_QUICK 2

/* Memory per pair. The largest distance is half of it. */
#define PAIR_BYTES    1024ULL
#define PAIR_SMALLEST 8ULL
#define NR_PAIRS      7

/* 4K, 6K, 8K, 12K, …, or with --quick 4K, 8K, 16K, … */
static uint64_t op_latency_nth_size(const struct bench_options *options, size_t i)
{
	if (options->quick)
		return SMALLEST << i;
	return i % 2 ? 3 * (SMALLEST / 2) << i / 2 : SMALLEST << i / 2;
}

/* Well beyond the largest cache, but small enough for a VM. */
static uint64_t op_latency_largest(const struct bench_machine *machine,
				   const struct bench_options *options)
{
	const uint64_t times = options->quick ? TIMES_CACHE_QUICK : TIMES_CACHE;
	const uint64_t most = options->quick ? LARGEST_QUICK : LARGEST;
	uint64_t bytes = times * (machine->cache_bytes[2] ?: UNKNOWN_CACHE);

	if (bytes > most)
		bytes = most;
	return bytes < machine->limit_bytes ? bytes : machine->limit_bytes;
}

static size_t op_latency_nr_sizes(const struct bench_machine *machine,
				  const struct bench_options *options)
{
	size_t nr = 1;

	while (op_latency_nth_size(options, nr) <= op_latency_largest(machine, options))
		nr++;
	return nr;
}

static size_t op_latency_nr_strides(const struct bench_options *options)
{
	return options->quick ? NR_STRIDES_QUICK : NR_STRIDES;
}

static size_t op_latency_nr_points(const struct bench_machine *machine,
				   const struct bench_options *options)
{
	return op_latency_nr_sizes(machine, options) * op_latency_nr_strides(options);
}

static uint64_t op_latency_size(const struct bench_options *options, size_t point)
{
	return op_latency_nth_size(options, point / op_latency_nr_strides(options));
}

static uint64_t op_latency_stride(const struct bench_options *options, size_t point)
{
	const size_t nr = op_latency_nr_strides(options), i = point % nr;

	return strides[i + 1 == nr ? NR_STRIDES - 1 : i];
}

static void op_latency_name_point(const struct bench_machine *machine,
				  const struct bench_options *options, size_t point, char *name,
				  size_t size)
{
	char bytes[24], stride[24];

	(void)machine;
	size_name(op_latency_size(options, point), bytes, sizeof(bytes));
	size_name(op_latency_stride(options, point), stride, sizeof(stride));
	snprintf(name, size, "%s:%s", bytes, stride);
}

static uint64_t *op_latency_slot(char *data, uint64_t stride, uint64_t i)
{
	return (uint64_t *)(data + i * stride);
}

/* A random permutation with a single cycle (S. Sattolo, Inf. Process. Lett. 22, 1986), in place. */
static void op_latency_make_cycle(char *data, uint64_t slots, uint64_t stride)
{
	struct random random = random_begin(SEED, 0);
	uint64_t i, other, kept;

	for (i = 0; i < slots; i++)
		*op_latency_slot(data, stride, i) = i;
	for (i = slots - 1; i; i--) {
		random.bound = i;
		other = random_below(&random);
		kept = *op_latency_slot(data, stride, i);
		*op_latency_slot(data, stride, i) = *op_latency_slot(data, stride, other);
		*op_latency_slot(data, stride, other) = kept;
	}
}

static int op_latency_prepare(struct bench *bench)
{
	const uint64_t bytes = op_latency_size(bench->options, bench->point);
	const uint64_t stride = op_latency_stride(bench->options, bench->point);
	const uint64_t slots = bytes / stride;
	char *data = bench_memory_map(bytes, bench->options->huge_pages);
	uint64_t i, *slot;

	if (!data)
		return -errno;
	op_latency_make_cycle(data, slots, stride);
	for (i = 0; i < slots; i++) {
		slot = op_latency_slot(data, stride, i);
		*slot = (uintptr_t)op_latency_slot(data, stride, *slot);
	}
	bench->state = data;
	return 0;
}

static int op_latency_run(struct bench *bench, uint64_t n)
{
	void **at = bench->state;
	uint64_t i;

	bench_start(bench);
	for (i = n; i; i--) {
		at = *at;
		bench_use(at);
	}
	bench_stop(bench);
	bench->state = at;
	return 0;
}

static size_t op_latency_nr_pairs(const struct bench_machine *machine,
				  const struct bench_options *options)
{
	(void)machine;
	(void)options;
	return NR_PAIRS;
}

static uint64_t op_latency_distance(size_t point)
{
	return PAIR_SMALLEST << point;
}

static void op_latency_name_pair(const struct bench_machine *machine,
				 const struct bench_options *options, size_t point, char *name,
				 size_t size)
{
	(void)machine;
	(void)options;
	size_name(op_latency_distance(point), name, size);
}

/* Exceeds the first cache but fits the second, where adjacent lines are not prefetched. */
static uint64_t op_latency_pair_memory(const struct bench_machine *machine)
{
	const uint64_t first = machine->cache_bytes[0] ?: 32768;

	return 6 * first;
}

/* The load at the distance comes first, since prefetchers fetch the following lines. */
static int op_latency_prepare_pairs(struct bench *bench)
{
	const uint64_t bytes = op_latency_pair_memory(bench->machine), slots = bytes / PAIR_BYTES;
	const uint64_t distance = op_latency_distance(bench->point);
	char *data = bench_memory_map(bytes, bench->options->huge_pages);
	uint64_t i, *slot;

	if (!data)
		return -errno;
	op_latency_make_cycle(data, slots, PAIR_BYTES);
	for (i = 0; i < slots; i++) {
		slot = op_latency_slot(data, PAIR_BYTES, i);
		*slot = (uintptr_t)op_latency_slot(data + distance, PAIR_BYTES, *slot);
		*op_latency_slot(data + distance, PAIR_BYTES, i) = (uintptr_t)slot;
	}
	bench->state = data;
	return 0;
}

static int op_latency_run_pairs(struct bench *bench, uint64_t n)
{
	return op_latency_run(bench, 2 * n);
}

const struct bench_operation op_latency = {
	.name = "memory.latency",
	.title = "a load, in memory of that size, with that stride",
	.method = "pointers in a random cycle, each load needs the previous load's result",
	.claim = { .made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
	.nr_points = op_latency_nr_points,
	.name_point = op_latency_name_point,
	.prepare = op_latency_prepare,
	.run = op_latency_run,
};

const struct bench_operation op_pair = {
	.name = "memory.pair",
	.title = "two loads at that distance",
	.method = "pointers in a random cycle through more lines than the first cache holds, "
		  "two loads at each",
	.claim = { .made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
	.nr_points = op_latency_nr_pairs,
	.name_point = op_latency_name_pair,
	.prepare = op_latency_prepare_pairs,
	.run = op_latency_run_pairs,
};
