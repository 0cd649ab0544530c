// SPDX-License-Identifier: GPL-2.0-only
/* Reading a clock, and the bare loop whose time other operations subtract. */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "bench/suite/ops/op_registry.h"
#include "util/counter.h"

#define UNROLLED 16

/* The operation stays in user mode. */
#define USER_MODE_ONLY                                                            \
	{                                                                         \
		.made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } \
	}

static int op_timer_need_counter(struct bench *bench)
{
	if (isnan(bench->machine->cycle_ns))
		return bench_refuse(bench, -EPERM, COUNTER_MISSING);
	return 0;
}

/* n reads, unrolled to make the loop cost unmeasurable. */
/* clang-format off */
#define READ_REPEATEDLY(bench, n, read)					\
	do {								\
		const uint64_t rounds = ((n) + UNROLLED - 1) / UNROLLED;	\
		uint64_t round;						\
		unsigned int i;						\
									\
		bench_start(bench);					\
		for (round = 0; round < rounds; round++) {		\
			_Pragma("GCC unroll 16")			\
			for (i = 0; i < UNROLLED; i++)			\
				read;					\
		}							\
		bench_stop(bench);					\
	} while (0)
/* clang-format on */

static int op_timer_run_counter(struct bench *bench, uint64_t n)
{
	READ_REPEATEDLY(bench, n, counter_read());
	return 0;
}

static int op_timer_run_counter_ordered(struct bench *bench, uint64_t n)
{
	READ_REPEATEDLY(bench, n, counter_read_ordered());
	return 0;
}

static int op_timer_run_clock_gettime(struct bench *bench, uint64_t n)
{
	struct timespec now;

	READ_REPEATEDLY(bench, n, clock_gettime(CLOCK_MONOTONIC, &now));
	return 0;
}

static int op_timer_run_loop(struct bench *bench, uint64_t n)
{
	uint64_t i;

	bench_start(bench);
	for (i = n; i; i--)
		bench_use(i);
	bench_stop(bench);
	return 0;
}

const struct bench_operation op_counter = {
	.name = "cpu.counter",
	.title = "read the CPU's counter",
	.method = "reads one after the other, 16 per loop iteration",
	.claim = USER_MODE_ONLY,
	.prepare = op_timer_need_counter,
	.run = op_timer_run_counter,
};

const struct bench_operation op_counter_ordered = {
	.name = "cpu.counter_ordered",
	.title = "read the CPU's counter after all earlier instructions",
	.method = "reads one after the other, 16 per loop iteration",
	.prediction = "cpu.counter",
	.claim = USER_MODE_ONLY,
	.prepare = op_timer_need_counter,
	.run = op_timer_run_counter_ordered,
};

const struct bench_operation op_clock_gettime = {
	.name = "cpu.clock_gettime",
	.title = "clock_gettime(CLOCK_MONOTONIC)",
	.method = "calls one after the other, 16 per loop iteration",
	.prediction = "cpu.counter_ordered + 2 * cpu.call:2",
	.claim = { .made = true, .range = { { 0, 0 }, { 0, 1 }, { 0, 0 }, { 0, 0 } } },
	.run = op_timer_run_clock_gettime,
};

const struct bench_operation op_loop = {
	.name = "cpu.loop",
	.title = "one empty loop iteration",
	.method = "a counter in a register goes down to 0",
	.hardware = "cycle",
	.claim = USER_MODE_ONLY,
	.run = op_timer_run_loop,
};
