// SPDX-License-Identifier: GPL-2.0-only
/*
 * A procedure call with 0 to 7 arguments, the seventh passed on the stack. Each number of arguments
 * is a point with a separate loop, since a call through a pointer is another operation.
 */
#include <stdio.h>

#include "bench/suite/ops/op_registry.h"
#include "util/array.h"

#define CALLED static __attribute__((noipa, aligned(64))) void

CALLED called_0(void)
{
}

CALLED called_1(long a)
{
	(void)a;
}

CALLED called_2(long a, long b)
{
	(void)a;
	(void)b;
}

CALLED called_3(long a, long b, long c)
{
	(void)a;
	(void)b;
	(void)c;
}

CALLED called_4(long a, long b, long c, long d)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
}

CALLED called_5(long a, long b, long c, long d, long e)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)e;
}

CALLED called_6(long a, long b, long c, long d, long e, long f)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)e;
	(void)f;
}

CALLED called_7(long a, long b, long c, long d, long e, long f, long g)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)e;
	(void)f;
	(void)g;
}

#define REPEATED(arguments, call)                  \
	static void repeat_##arguments(uint64_t n) \
	{                                          \
		for (; n; n--) {                   \
			call;                      \
			bench_use(n);              \
		}                                  \
	}

REPEATED(0, called_0())
REPEATED(1, called_1(1))
REPEATED(2, called_2(1, 2))
REPEATED(3, called_3(1, 2, 3))
REPEATED(4, called_4(1, 2, 3, 4))
REPEATED(5, called_5(1, 2, 3, 4, 5))
REPEATED(6, called_6(1, 2, 3, 4, 5, 6))
REPEATED(7, called_7(1, 2, 3, 4, 5, 6, 7))

static void (*const repeat[])(uint64_t n) = {
	repeat_0, repeat_1, repeat_2, repeat_3, repeat_4, repeat_5, repeat_6, repeat_7,
};

#define NR_POINTS ARRAY_SIZE(repeat)

static int op_call_run(struct bench *bench, uint64_t n)
{
	bench_start(bench);
	repeat[bench->point](n);
	bench_stop(bench);
	return 0;
}

static size_t op_call_nr_points(const struct bench_machine *machine,
				const struct bench_options *options)
{
	(void)machine;
	(void)options;
	return NR_POINTS;
}

static void op_call_name_point(const struct bench_machine *machine,
			       const struct bench_options *options, size_t point, char *name,
			       size_t size)
{
	(void)machine;
	(void)options;
	snprintf(name, size, "%zu", point);
}

const struct bench_operation op_call = {
	.name = "cpu.call",
	.title = "a procedure call with that many arguments",
	.method = "calls to an empty function, not inlined, in a loop",
	.hardware = "2 * cycle", /* call and ret: two branches taken */
	.prediction = "2 * cpu.loop + point * cycle",
	.subtract = "cpu.loop",
	.claim = { .made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
	.nr_points = op_call_nr_points,
	.name_point = op_call_name_point,
	.run = op_call_run,
};
