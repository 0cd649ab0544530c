// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runs for one row, in the worker: calibration doubles the number of operations until a run
 * takes its share of the time budget, which also warms up. Then runs are repeated. The results go
 * into memory shared with pfdrive, so a killed worker leaves the finished runs.
 */
#include <errno.h>
#include <string.h>

#include "bench/suite/bench_measure.h"
#include "model/counters.h"
#include "util/time_ns.h"

#define WARM_UP_RUNS	2
#define FEWEST_RUNS	3
#define SHORTEST_NS	50000 /* per run, keeps the clock cost below 1 % */
#define PATIENCE	4     /* budget shares, for runs with a short timed part */
#define MOST_OPERATIONS (1ULL << 40)

static int bench_measure_once(struct bench *bench, uint64_t n)
{
	bench->window = (struct bench_window){ 0 };
	return bench->operation->run(bench, n);
}

/* One run with n operations. *wall_ns includes the preparation around the timed parts. */
static int bench_measure_wall(struct bench *bench, uint64_t n, uint64_t *wall_ns)
{
	const uint64_t start_ns = clock_monotonic_ns();
	int err = bench_measure_once(bench, n);

	*wall_ns = clock_monotonic_ns() - start_ns;
	return err;
}

/*
 * A long run may have been interrupted, so a second one must confirm it. If the timed part is
 * only a small part of the run, n may grow until a run takes PATIENCE shares.
 */
static int bench_measure_calibrate(struct bench *bench, const struct measure_plan *plan,
				   uint64_t *n)
{
	const uint64_t share_ns = plan->budget_ns / (plan->runs + 2 * WARM_UP_RUNS);
	uint64_t wall_ns;
	int err;

	for (*n = 1; *n < MOST_OPERATIONS; *n *= 2) {
		err = bench_measure_wall(bench, *n, &wall_ns);
		if (!err && 2 * wall_ns > share_ns)
			err = bench_measure_wall(bench, *n, &wall_ns);
		if (err)
			return err;
		if (2 * wall_ns > share_ns &&
		    (bench->window.ns > 2 * SHORTEST_NS || wall_ns > PATIENCE * share_ns))
			break;
	}
	return 0;
}

static void bench_measure_add_run(const struct bench *bench, uint64_t n, struct measured *measured)
{
	const struct bench_window *window = &bench->window;
	enum bench_event event;

	measured->ns[measured->runs] = (double)window->ns / n;
	measured->cycles[measured->runs] = (double)window->cycles / n;
	measured->runs++;
	measured->all_operations += n;
	measured->elapsed_ns += window->ns;
	measured->brackets = window->brackets;
	for (event = 0; event < BENCH_NR_EVENTS; event++)
		if (window->usage.event[event] == COUNT_NA)
			measured->usage.event[event] = COUNT_NA;
		else
			measured->usage.event[event] += window->usage.event[event];
}

static int bench_measure_repeat(struct bench *bench, const struct measure_plan *plan,
				uint64_t end_ns, struct measured *measured)
{
	const uint64_t n = measured->operations;
	int err = 0, i;

	for (i = 0; i < WARM_UP_RUNS && !err && (!i || clock_monotonic_ns() < end_ns); i++)
		err = bench_measure_once(bench, n);
	while (!err && measured->runs < plan->runs && measured->runs < MEASURE_MAX_RUNS &&
	       (measured->runs < FEWEST_RUNS || clock_monotonic_ns() < end_ns)) {
		err = bench_measure_once(bench, n);
		if (!err)
			bench_measure_add_run(bench, n, measured);
	}
	return err;
}

/*
 * For an operation whose result is a size: each run has one, without warm-up. Another run begins
 * if the remaining time suffices for one as long as the last.
 */
static int bench_measure_sizes(struct bench *bench, const struct measure_plan *plan,
			       uint64_t end_ns, struct measured *measured)
{
	enum bench_event event;
	uint64_t wall_ns;
	int err;

	measured->operations = 1;
	for (event = 0; event < BENCH_NR_EVENTS; event++) /* there is no timed part */
		measured->usage.event[event] = COUNT_NA;
	do {
		err = bench_measure_wall(bench, 1, &wall_ns);
		if (err)
			return err;
		measured->ns[measured->runs++] = bench->bytes;
		measured->all_operations++;
	} while (measured->runs < plan->runs && measured->runs < MEASURE_MAX_RUNS &&
		 clock_monotonic_ns() + wall_ns < end_ns);
	return 0;
}

static int bench_measure_check(struct bench *bench, const struct measured *measured)
{
	if (measured->ns[0] * measured->operations < SHORTEST_NS)
		return bench_refuse(bench, -ERANGE, "a run is too short to be timed");
	return 0;
}

static int bench_measure_times(struct bench *bench, const struct measure_plan *plan,
			       uint64_t end_ns, struct measured *measured)
{
	int err = bench_measure_calibrate(bench, plan, &measured->operations);

	if (!err)
		err = bench_measure_repeat(bench, plan, end_ns, measured);
	return err ?: bench_measure_check(bench, measured);
}

void bench_measure(struct bench *bench, const struct measure_plan *plan, struct measured *measured)
{
	const struct bench_operation *operation = bench->operation;
	const uint64_t end_ns = clock_monotonic_ns() + plan->budget_ns;
	int err;

	bench->why = &measured->why;
	err = operation->prepare ? operation->prepare(bench) : 0;
	if (!err && operation->unit == BENCH_BYTES)
		err = bench_measure_sizes(bench, plan, end_ns, measured);
	else if (!err)
		err = bench_measure_times(bench, plan, end_ns, measured);
	if (operation->finish)
		operation->finish(bench);
	measured->bytes = bench->bytes;
	if (err && !measured->why.text[0])
		bench_refuse(bench, err, "%s", strerror(-err));
	measured->err = err;
	measured->finished = true;
}
