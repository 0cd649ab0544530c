// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults as a program meets them: the time of the first touch of a page. The memory
 * is mapped anew for every round; only the touches are timed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/ops/bench_file.h"
#include "bench/ops/operations.h"
#include "util/random.h"

#define PAGE 4096ULL
#define AROUND (16 * PAGE)	/* the kernel maps up to that many pages at a fault */
#define FILE_BYTES (64ULL << 20)
#define FILE_BYTES_QUICK (8ULL << 20)
#define ANON_BYTES (16ULL << 20)
#define ANON_BYTES_QUICK (4ULL << 20)
#define SEED 1

struct area {
	int fd;			/* -1: anonymous */
	uint64_t bytes, step;
	uint32_t *order;	/* of steps, at random; NULL: from end to end */
};

static uint64_t touches_of(const struct area *area)
{
	return area->bytes / area->step;
}

static int open_area(struct bench *bench, uint64_t bytes, uint64_t step, bool file)
{
	struct area *area = calloc(1, sizeof(*area));

	bench->state = area;
	if (!area)
		return -ENOMEM;
	*area = (struct area){ .fd = -1, .bytes = bytes, .step = step };
	if (bytes > bench->machine->room_bytes)
		return bench_refuse(bench, -ENOMEM, "too little memory is free");
	if (!file)
		return 0;
	area->fd = place_make(bench, bytes);
	return area->fd < 0 ? area->fd : 0;
}

static uint64_t file_bytes(const struct bench *bench)
{
	return bench->options->quick ? FILE_BYTES_QUICK : FILE_BYTES;
}

static uint64_t anon_bytes(const struct bench *bench)
{
	return bench->options->quick ? ANON_BYTES_QUICK : ANON_BYTES;
}

/* Volatile, so that every byte is read. */
static void touch_read(const struct area *area, volatile char *data, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		(void)data[(area->order ? area->order[i] : i) * area->step];
}

static void touch_write(const struct area *area, volatile char *data, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		data[i * area->step] = 1;
}

typedef void (*touch_function)(const struct area *area, volatile char *data, uint64_t count);

static uint64_t in_round(const struct area *area, uint64_t left)
{
	return left < touches_of(area) ? left : touches_of(area);
}

static void *map(const struct area *area, int protection, int flags)
{
	void *data = mmap(NULL, area->bytes, protection, flags, area->fd, 0);

	return data == MAP_FAILED ? NULL : data;
}

static void timed(struct bench *bench, void *data, uint64_t count, touch_function touch)
{
	const struct area *area = bench->state;

	bench_start(bench);
	touch(area, data, count);
	bench_stop(bench);
	munmap(data, area->bytes);
}

static int prepare_anon(struct bench *bench)
{
	return open_area(bench, anon_bytes(bench), PAGE, false);
}

static int run_anon(struct bench *bench, uint64_t n)
{
	const struct area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = in_round(area, n);
		data = map(area, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
		if (!data)
			return -errno;
		madvise(data, area->bytes, MADV_NOHUGEPAGE);
		timed(bench, data, count, touch_write);
	}
	return 0;
}

static int prepare_cached(struct bench *bench)
{
	const uint64_t bytes = file_bytes(bench);
	int err = open_area(bench, bytes, AROUND, true);
	struct area *area = bench->state;

	return err ? err : place_warm(bench, area->fd, bytes);
}

static int run_cached(struct bench *bench, uint64_t n)
{
	const struct area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = in_round(area, n);
		data = map(area, PROT_READ, MAP_SHARED);
		if (!data)
			return -errno;
		timed(bench, data, count, touch_read);
	}
	return 0;
}

static int prepare_cow(struct bench *bench)
{
	int err = open_area(bench, anon_bytes(bench), PAGE, true);
	struct area *area = bench->state;

	return err ? err : place_warm(bench, area->fd, area->bytes);
}

/* Every page is there for reading; the first write copies it. */
static int run_cow(struct bench *bench, uint64_t n)
{
	const struct area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = in_round(area, n);
		data = map(area, PROT_READ | PROT_WRITE, MAP_PRIVATE);
		if (!data)
			return -errno;
		touch_read(area, data, touches_of(area));
		timed(bench, data, count, touch_write);
	}
	return 0;
}

static int shuffle(struct area *area)
{
	struct random random = random_begin(SEED, 0);
	uint64_t i, other;
	uint32_t kept;

	area->order = calloc(touches_of(area), sizeof(*area->order));
	if (!area->order)
		return -ENOMEM;
	for (i = 0; i < touches_of(area); i++)
		area->order[i] = i;
	for (i = touches_of(area) - 1; i; i--) {
		random.bound = i + 1;
		other = random_below(&random);
		kept = area->order[i];
		area->order[i] = area->order[other];
		area->order[other] = kept;
	}
	return 0;
}

static int prepare_cold(struct bench *bench)
{
	int err = open_area(bench, file_bytes(bench), PAGE, true);

	return err ? err : shuffle(bench->state);
}

static int run_cold(struct bench *bench, uint64_t n)
{
	const struct area *area = bench->state;
	uint64_t count;
	void *data;
	int err;

	for (; n; n -= count) {
		count = in_round(area, n);
		err = place_cool(bench, area->fd, area->bytes);
		if (err)
			return err;
		data = map(area, PROT_READ, MAP_SHARED);
		if (!data)
			return -errno;
		madvise(data, area->bytes, MADV_RANDOM);	/* one page a read */
		timed(bench, data, count, touch_read);
	}
	return 0;
}

const struct bench_operation op_fault_anon = {
	.name = "fault.anon",
	.title = "the first write to a page of anonymous memory",
	.method = "a byte in each page of some MiB, mapped anew each round, without huge pages",
	.prediction = "2 * cpu.syscall + 4096000 / memory.write",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = prepare_anon,
	.run = run_anon,
};

const struct bench_operation op_fault_cached = {
	.name = "fault.cached",
	.title = "a fault on a page of a file that is in the page cache",
	.method = "a byte every 64 KiB of a file, which the kernel's fault-around maps at once",
	.prediction = "2 * cpu.syscall + 16 * memory.dram",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = prepare_cached,
	.run = run_cached,
};

const struct bench_operation op_fault_cow = {
	.name = "fault.cow",
	.title = "the first write to a page of a private mapping, which copies it",
	.method = "a byte in each page of some MiB of a file, all of which were read before",
	.prediction = "fault.anon + 4096000 / memory.copy",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = prepare_cow,
	.run = run_cow,
};

const struct bench_operation op_fault_cold = {
	.name = "fault.cold",
	.title = "a fault on a page of a file that is on the disk",
	.method = "a byte in each page of a file at random, nothing of it in the page cache, "
		  "readahead off (MADV_RANDOM)",
	.prediction = "fault.cached + file.random:4M",
	/* A read may be over before the thread sleeps: a major fault needs no switch. */
	.claim = { .made = true, .range = { { 0, 10 }, BENCH_ANY, { 1, 1 }, { 1, 1 } } },
	.of_faults = true,
	.prepare = prepare_cold,
	.run = run_cold,
};
