// SPDX-License-Identifier: GPL-2.0-only
/* A procedure call with 0 to 7 arguments; the seventh goes over the stack. */
#include <stdio.h>

#include "operations.h"

#define NR_POINTS 8
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
	(void)a, (void)b;
}

CALLED called_3(long a, long b, long c)
{
	(void)a, (void)b, (void)c;
}

CALLED called_4(long a, long b, long c, long d)
{
	(void)a, (void)b, (void)c, (void)d;
}

CALLED called_5(long a, long b, long c, long d, long e)
{
	(void)a, (void)b, (void)c, (void)d, (void)e;
}

CALLED called_6(long a, long b, long c, long d, long e, long f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
}

CALLED called_7(long a, long b, long c, long d, long e, long f, long g)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
}

/* A loop of its own for each: a call through a pointer would be another operation. */
#define REPEAT(n, call) \
	do { \
		for (i = (n); i; i--) { \
			call; \
			bench_use(i); \
		} \
	} while (0)

static void call_often(size_t arguments, uint64_t n)
{
	uint64_t i;

	switch (arguments) {
	case 0: REPEAT(n, called_0()); break;
	case 1: REPEAT(n, called_1(1)); break;
	case 2: REPEAT(n, called_2(1, 2)); break;
	case 3: REPEAT(n, called_3(1, 2, 3)); break;
	case 4: REPEAT(n, called_4(1, 2, 3, 4)); break;
	case 5: REPEAT(n, called_5(1, 2, 3, 4, 5)); break;
	case 6: REPEAT(n, called_6(1, 2, 3, 4, 5, 6)); break;
	default: REPEAT(n, called_7(1, 2, 3, 4, 5, 6, 7)); break;
	}
}

static int run(struct bench *bench, uint64_t n)
{
	bench_start(bench);
	call_often(bench->point, n);
	bench_stop(bench);
	return 0;
}

static size_t nr_points(const struct bench_machine *machine, const struct bench_options *options)
{
	(void)machine;
	(void)options;
	return NR_POINTS;
}

static void name_point(const struct bench_options *options, size_t point, char *name, size_t size)
{
	(void)options;
	snprintf(name, size, "%zu", point);
}

const struct bench_operation op_call = {
	.name = "cpu.call",
	.title = "a procedure call with that many arguments",
	.method = "calls of a function that does nothing, not inlined, in a loop",
	.hardware = "2 * cycle",	/* call and ret: two branches taken */
	.prediction = "2 * cpu.loop + point * cycle",
	.subtract = "cpu.loop",
	.claim = { .made = true, .range = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
	.nr_points = nr_points,
	.name_point = name_point,
	.run = run,
};
