// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults as a program meets them: the time of the first access to a page. Each round maps the
 * memory anew, and only the accesses are timed, not mmap(2) and munmap(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/ops/bench_file.h"
#include "bench/suite/ops/op_registry.h"
#include "util/page_size.h"
#include "util/random.h"

#define AROUND		 (64ULL << 10) /* fault-around maps up to this much per fault */
#define FILE_BYTES	 (64ULL << 20)
#define FILE_BYTES_QUICK (8ULL << 20)
#define ANON_BYTES	 (16ULL << 20)
#define ANON_BYTES_QUICK (4ULL << 20)
#define SEED		 1

struct op_fault_area {
	int fd; /* -1: anonymous */
	uint64_t bytes, step;
	uint32_t *order; /* random step order, or NULL if sequential */
};

static uint64_t op_fault_touches(const struct op_fault_area *area)
{
	return area->bytes / area->step;
}

static int op_fault_open_area(struct bench *bench, uint64_t bytes, uint64_t step, bool file)
{
	struct op_fault_area *area = calloc(1, sizeof(*area));

	bench->state = area;
	if (!area)
		return -ENOMEM;
	*area = (struct op_fault_area){ .fd = -1, .bytes = bytes, .step = step };
	if (bytes > bench->machine->limit_bytes)
		return bench_refuse(bench, -ENOMEM, "too little free memory");
	if (!file)
		return 0;
	area->fd = bench_file_make(bench, bytes);
	return area->fd < 0 ? area->fd : 0;
}

static uint64_t op_fault_file_bytes(const struct bench *bench)
{
	return bench->options->quick ? FILE_BYTES_QUICK : FILE_BYTES;
}

static uint64_t op_fault_anon_bytes(const struct bench *bench)
{
	return bench->options->quick ? ANON_BYTES_QUICK : ANON_BYTES;
}

/* Volatile, so the compiler keeps every read. */
static void op_fault_read(const struct op_fault_area *area, volatile char *data, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		(void)data[(area->order ? area->order[i] : i) * area->step];
}

static void op_fault_write(const struct op_fault_area *area, volatile char *data, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		data[i * area->step] = 1;
}

typedef void (*touch_function)(const struct op_fault_area *area, volatile char *data,
			       uint64_t count);

static uint64_t op_fault_in_round(const struct op_fault_area *area, uint64_t left)
{
	return left < op_fault_touches(area) ? left : op_fault_touches(area);
}

static void *op_fault_map(const struct op_fault_area *area, int protection, int flags)
{
	void *data = mmap(NULL, area->bytes, protection, flags, area->fd, 0);

	return data == MAP_FAILED ? NULL : data;
}

static void op_fault_time(struct bench *bench, void *data, uint64_t count, touch_function touch)
{
	const struct op_fault_area *area = bench->state;

	bench_start(bench);
	touch(area, data, count);
	bench_stop(bench);
	munmap(data, area->bytes);
}

static int op_fault_prepare_anon(struct bench *bench)
{
	return op_fault_open_area(bench, op_fault_anon_bytes(bench), page_size(), false);
}

static int op_fault_run_anon(struct bench *bench, uint64_t n)
{
	const struct op_fault_area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = op_fault_in_round(area, n);
		data = op_fault_map(area, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
		if (!data)
			return -errno;
		madvise(data, area->bytes, MADV_NOHUGEPAGE);
		op_fault_time(bench, data, count, op_fault_write);
	}
	return 0;
}

static int op_fault_prepare_cached(struct bench *bench)
{
	const uint64_t bytes = op_fault_file_bytes(bench);
	int err = op_fault_open_area(bench, bytes, AROUND, true);
	struct op_fault_area *area = bench->state;

	return err ? err : bench_file_warm(bench, area->fd, bytes);
}

static int op_fault_run_cached(struct bench *bench, uint64_t n)
{
	const struct op_fault_area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = op_fault_in_round(area, n);
		data = op_fault_map(area, PROT_READ, MAP_SHARED);
		if (!data)
			return -errno;
		op_fault_time(bench, data, count, op_fault_read);
	}
	return 0;
}

static int op_fault_prepare_cow(struct bench *bench)
{
	int err = op_fault_open_area(bench, op_fault_anon_bytes(bench), page_size(), true);
	struct op_fault_area *area = bench->state;

	return err ? err : bench_file_warm(bench, area->fd, area->bytes);
}

/* All pages are mapped for reading first, so each write faults to copy the page. */
static int op_fault_run_cow(struct bench *bench, uint64_t n)
{
	const struct op_fault_area *area = bench->state;
	uint64_t count;
	void *data;

	for (; n; n -= count) {
		count = op_fault_in_round(area, n);
		data = op_fault_map(area, PROT_READ | PROT_WRITE, MAP_PRIVATE);
		if (!data)
			return -errno;
		op_fault_read(area, data, op_fault_touches(area));
		op_fault_time(bench, data, count, op_fault_write);
	}
	return 0;
}

static int op_fault_shuffle(struct op_fault_area *area)
{
	struct random random = random_begin(SEED, 0);
	uint64_t i, other;
	uint32_t kept;

	area->order = calloc(op_fault_touches(area), sizeof(*area->order));
	if (!area->order)
		return -ENOMEM;
	for (i = 0; i < op_fault_touches(area); i++)
		area->order[i] = i;
	for (i = op_fault_touches(area) - 1; i; i--) {
		random.bound = i + 1;
		other = random_below(&random);
		kept = area->order[i];
		area->order[i] = area->order[other];
		area->order[other] = kept;
	}
	return 0;
}

static int op_fault_prepare_cold(struct bench *bench)
{
	int err = op_fault_open_area(bench, op_fault_file_bytes(bench), page_size(), true);

	return err ? err : op_fault_shuffle(bench->state);
}

static int op_fault_run_cold(struct bench *bench, uint64_t n)
{
	const struct op_fault_area *area = bench->state;
	uint64_t count;
	void *data;
	int err;

	for (; n; n -= count) {
		count = op_fault_in_round(area, n);
		err = bench_file_cool(bench, area->fd, area->bytes);
		if (err)
			return err;
		data = op_fault_map(area, PROT_READ, MAP_SHARED);
		if (!data)
			return -errno;
		madvise(data, area->bytes, MADV_RANDOM); /* no readahead */
		op_fault_time(bench, data, count, op_fault_read);
	}
	return 0;
}

const struct bench_operation op_fault_anon = {
	.name = "fault.anon",
	.title = "the first write to an anonymous page",
	.method = "a byte in each page of some MiB, newly mapped in each round, no huge pages",
	.prediction = "2 * cpu.syscall + 4096000 / memory.write",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = op_fault_prepare_anon,
	.run = op_fault_run_anon,
};

const struct bench_operation op_fault_cached = {
	.name = "fault.cached",
	.title = "a fault on a file page that is in the page cache",
	.method = "a byte every 64 KiB of a file, as much as fault-around maps at once",
	.prediction = "2 * cpu.syscall + 16 * memory.dram",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = op_fault_prepare_cached,
	.run = op_fault_run_cached,
};

const struct bench_operation op_fault_cow = {
	.name = "fault.cow",
	.title = "the first write to a private mapping's page, which copies it",
	.method = "a byte in each page of some MiB of a file, all pages were read before",
	.prediction = "fault.anon + 4096000 / memory.copy",
	.claim = { .made = true, .range = { { 0, 0.1 }, BENCH_ANY, { 1, 1 }, { 0, 0 } } },
	.of_faults = true,
	.prepare = op_fault_prepare_cow,
	.run = op_fault_run_cow,
};

const struct bench_operation op_fault_cold = {
	.name = "fault.cold",
	.title = "a fault on a file page that is on the disk",
	.method = "a byte in each page of an uncached file, in random order, "
		  "without readahead (MADV_RANDOM)",
	.prediction = "fault.cached + file.random:4M",
	/* A read may complete before the thread sleeps: a major fault needs no switch. */
	.claim = { .made = true, .range = { { 0, 10 }, BENCH_ANY, { 1, 1 }, { 1, 1 } } },
	.of_faults = true,
	.prepare = op_fault_prepare_cold,
	.run = op_fault_run_cold,
};
