// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bandwidth of memory: reads, writes and copies, sequentially through more memory than the caches
 * hold. One operation is one chunk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/core/bench_memory.h"
#include "bench/suite/ops/op_registry.h"

#define CHUNK	      (1ULL << 20) /* one operation */
#define TIMES_CACHE   4
#define LARGEST	      (256ULL << 20)
#define LARGEST_QUICK (64ULL << 20)
#define UNKNOWN_CACHE (32ULL << 20)

/* 16 bytes: one register. */
typedef uint64_t op_bandwidth_words __attribute__((vector_size(16), may_alias));

struct op_bandwidth_buffers {
	char *from, *to;
	uint64_t chunks, next;
};

static uint64_t op_bandwidth_bytes(const struct bench *bench, unsigned int areas)
{
	const uint64_t most = bench->options->quick ? LARGEST_QUICK : LARGEST;
	uint64_t bytes = TIMES_CACHE * (bench->machine->cache_bytes[2] ?: UNKNOWN_CACHE);

	if (bytes > most)
		bytes = most;
	if (bytes > bench->machine->limit_bytes / areas)
		bytes = bench->machine->limit_bytes / areas;
	return bytes / CHUNK * CHUNK;
}

static int op_bandwidth_prepare(struct bench *bench, unsigned int areas)
{
	const uint64_t bytes = op_bandwidth_bytes(bench, areas);
	struct op_bandwidth_buffers *area = calloc(1, sizeof(*area));

	bench->state = area;
	bench->bytes = CHUNK;
	if (!area)
		return -ENOMEM;
	if (!bytes)
		return bench_refuse(bench, -ENOMEM, "too little memory is free");
	area->chunks = bytes / CHUNK;
	area->from = bench_memory_map(bytes, bench->options->huge_pages);
	area->to = areas > 1 ? bench_memory_map(bytes, bench->options->huge_pages) : area->from;
	if (!area->from || !area->to)
		return -errno;
	/* Pages never written would all be the shared zero page. */
	memset(area->from, 1, bytes);
	memset(area->to, 1, bytes);
	return 0;
}

static int op_bandwidth_prepare_one(struct bench *bench)
{
	return op_bandwidth_prepare(bench, 1);
}

static int op_bandwidth_prepare_two(struct bench *bench)
{
	return op_bandwidth_prepare(bench, 2);
}

static uint64_t op_bandwidth_next_offset(struct op_bandwidth_buffers *area)
{
	const uint64_t offset = area->next * CHUNK;

	area->next = (area->next + 1) % area->chunks;
	return offset;
}

/* Four independent sums, so the additions overlap. */
static void op_bandwidth_read_chunk(const char *from)
{
	const op_bandwidth_words *at = (const void *)from, *const end =
								   (const void *)(from + CHUNK);
	op_bandwidth_words a = { 0 }, b = a, c = a, d = a;

	for (; at < end; at += 4) {
		a += at[0];
		b += at[1];
		c += at[2];
		d += at[3];
	}
	a = (a + b) + (c + d);
	/* The compiler may not drop it. */
#if defined(__x86_64__)
	__asm__ volatile("" : : "x"(a));
#elif defined(__aarch64__)
	__asm__ volatile("" : : "w"(a));
#else
	__asm__ volatile("" : : "m"(a));
#endif
}

static void op_bandwidth_write_chunk(char *to)
{
	op_bandwidth_words *at = (void *)to, *const end = (void *)(to + CHUNK);
	const op_bandwidth_words value = { 0x0202020202020202, 0x0202020202020202 };

	for (; at < end; at += 4) {
		at[0] = value;
		at[1] = value;
		at[2] = value;
		at[3] = value;
		__asm__ volatile("" : : : "memory"); /* keep gcc from making this memset() */
	}
}

static int op_bandwidth_run_read(struct bench *bench, uint64_t n)
{
	struct op_bandwidth_buffers *area = bench->state;
	uint64_t i;

	bench_start(bench);
	for (i = 0; i < n; i++)
		op_bandwidth_read_chunk(area->from + op_bandwidth_next_offset(area));
	bench_stop(bench);
	return 0;
}

static int op_bandwidth_run_write(struct bench *bench, uint64_t n)
{
	struct op_bandwidth_buffers *area = bench->state;
	uint64_t i;

	bench_start(bench);
	for (i = 0; i < n; i++)
		op_bandwidth_write_chunk(area->to + op_bandwidth_next_offset(area));
	bench_stop(bench);
	return 0;
}

static int op_bandwidth_run_copy(struct bench *bench, uint64_t n)
{
	struct op_bandwidth_buffers *area = bench->state;
	uint64_t i, offset;

	bench_start(bench);
	for (i = 0; i < n; i++) {
		offset = op_bandwidth_next_offset(area);
		memcpy(area->to + offset, area->from + offset, CHUNK);
	}
	bench_stop(bench);
	return 0;
}

#define NO_EVENTS                                                                 \
	{                                                                         \
		.made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } \
	}

const struct bench_operation op_read = {
	.name = "memory.read",
	.unit = BENCH_MBS,
	.title = "read memory sequentially",
	.method = "16 bytes per load, summed in four registers",
	.prediction = "10 * 64000 / memory.dram", /* ten lines of 64 bytes in flight */
	.claim = NO_EVENTS,
	.prepare = op_bandwidth_prepare_one,
	.run = op_bandwidth_run_read,
};

const struct bench_operation op_write = {
	.name = "memory.write",
	.unit = BENCH_MBS,
	.title = "write memory sequentially",
	.method = "16 bytes per store, through the caches",
	.prediction = "memory.read / 2",
	.claim = NO_EVENTS,
	.prepare = op_bandwidth_prepare_one,
	.run = op_bandwidth_run_write,
};

const struct bench_operation op_copy = {
	.name = "memory.copy",
	.unit = BENCH_MBS,
	.title = "copy memory sequentially",
	.method = "1 MiB memcpy at a time; each byte counts once",
	.prediction = "1 / (1 / memory.read + 1 / memory.write)",
	.claim = NO_EVENTS,
	.prepare = op_bandwidth_prepare_two,
	.run = op_bandwidth_run_copy,
};
