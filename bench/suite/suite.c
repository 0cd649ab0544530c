// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the rows in order, each in a worker with a time budget, and computes their figures:
 * mean, confidence interval, cycles and judgement. A row that cannot be measured gets a reason,
 * and the next one follows.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/suite/core/judge.h"
#include "bench/suite/suite.h"
#include "util/time_ns.h"

/* Per operation with all points: the planned time, and the limit after which it is killed. */
#define BUDGET_NS	       (3 * SECOND)
#define BUDGET_POINTS_NS       (30 * SECOND)
#define LIMIT_NS	       (60 * SECOND)
#define BUDGET_QUICK_NS	       (2 * SECOND / 5)
#define BUDGET_POINTS_QUICK_NS (5 * SECOND / 2)
#define LIMIT_QUICK_NS	       (5 * SECOND)
#define RUNS		       30
#define RUNS_QUICK	       10
#define RUNS_POINTS_QUICK      5 /* if there are many points */
#define MANY_POINTS	       16

/* For an operation whose result is a size: few runs, each as long as necessary. */
#define BUDGET_SIZE_NS	     (40 * SECOND)
#define BUDGET_SIZE_QUICK_NS (5 * SECOND / 2)
#define RUNS_SIZE	     5

static size_t suite_points(const struct bench_results *results,
			   const struct bench_operation *operation)
{
	size_t i, nr = 0;

	for (i = 0; i < results->nr; i++)
		nr += results->rows[i].operation == operation;
	return nr;
}

struct worker_job suite_job(const struct bench_results *results, const struct bench_row *row)
{
	const size_t points = suite_points(results, row->operation);
	const bool quick = results->options.quick;
	uint64_t budget_ns = quick ? BUDGET_QUICK_NS : BUDGET_NS;
	size_t runs = quick ? RUNS_QUICK : RUNS;

	if (quick && points > MANY_POINTS)
		runs = RUNS_POINTS_QUICK;
	if (row->operation->unit == BENCH_BYTES) {
		runs = RUNS_SIZE;
		budget_ns = quick ? BUDGET_SIZE_QUICK_NS : BUDGET_SIZE_NS;
	}
	if (points > 1)
		budget_ns = (quick ? BUDGET_POINTS_QUICK_NS : BUDGET_POINTS_NS) / points;
	return (struct worker_job){
		.operation = row->operation,
		.point = row->point,
		.options = &results->options,
		.machine = &results->machine,
		.plan = { .budget_ns = budget_ns, .runs = runs },
		.limit_ns = quick ? LIMIT_QUICK_NS : LIMIT_NS,
	};
}

/* Converts an operation's time into the row's unit. */
static double suite_value(const struct bench_row *row, const struct measured *measured, double ns)
{
	if (row->operation->unit == BENCH_MBS)
		return measured->bytes * 1000.0 / ns;
	return isnan(row->subtracted_ns) ? ns : ns - row->subtracted_ns;
}

static void suite_subtract(struct bench_results *results, struct bench_row *row, double *half_width)
{
	const char *name = row->operation->subtract;
	const struct bench_row *other = name ? bench_results_find(results, name) : NULL;

	row->subtracted_ns = NAN;
	*half_width = 0;
	if (!name)
		return;
	if (!other || !bench_row_measured(other)) {
		why_set(&row->missing, "%s, which it subtracts, was not measured", name);
		return;
	}
	row->subtracted_ns = other->figures.mean;
	*half_width = other->half_width;
}

static double suite_mean(const double *values, size_t nr)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += values[i];
	return sum / nr;
}

static void suite_judge(struct bench_row *row)
{
	const struct bench_operation *operation = row->operation;

	judge_noise(&row->figures, row->figures.mean, row->half_width, &row->noise);
	judge_counts(&operation->claim, &row->usage, row->all_operations, row->elapsed_ns,
		     operation->own_share ?: 1, &row->contradiction);
}

int suite_fill(struct bench_results *results, struct bench_row *row,
	       const struct measured *measured)
{
	double values[MEASURE_MAX_RUNS], half_width, cycles;
	size_t i;
	int err;

	suite_subtract(results, row, &half_width);
	if (!bench_row_measured(row))
		return 0;
	for (i = 0; i < measured->runs; i++)
		values[i] = suite_value(row, measured, measured->ns[i]);
	err = statistics_of(&row->figures, values, measured->runs);
	if (err)
		return err;
	row->half_width = hypot(row->figures.half_width, half_width);
	cycles = suite_mean(measured->cycles, measured->runs);
	if (!isnan(row->subtracted_ns))
		cycles -= row->subtracted_ns / results->machine.cycle_ns;
	row->cycles = isnan(results->machine.cycle_ns) || row->operation->unit == BENCH_BYTES ?
			      NAN :
			      cycles;
	row->operations = measured->operations;
	row->all_operations = measured->all_operations;
	row->usage = measured->usage;
	row->elapsed_ns = measured->elapsed_ns;
	suite_judge(row);
	return 0;
}

static void suite_show_progress(const struct bench_results *results, const struct bench_row *row)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (row)
		fprintf(stderr, "\r\033[K%zu of %zu: %s", (size_t)(row - results->rows) + 1,
			results->nr, row->name);
	else
		fputs("\r\033[K", stderr);
}

static int suite_measure_row(struct bench_results *results, struct bench_row *row, uint64_t end_ns)
{
	struct worker_job job = suite_job(results, row);
	const uint64_t now = clock_monotonic_ns();
	struct measured measured;
	int err;

	if (now >= end_ns) {
		why_set(&row->missing, "no time was left for it");
		return 0;
	}
	if (now + job.limit_ns > end_ns)
		job.limit_ns = end_ns - now;
	err = worker_measure(&job, &measured);
	if (err)
		return err;
	if (measured.err) {
		row->missing = measured.why;
		return 0;
	}
	return suite_fill(results, row, &measured);
}

int suite_measure(struct bench_results *results)
{
	const struct bench_operation *operation = NULL;
	struct bench_row *row;
	uint64_t end_ns = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < results->nr && !err; i++) {
		row = &results->rows[i];
		row->cycles = NAN;
		row->subtracted_ns = NAN;
		if (row->operation->derived_from)
			continue;
		if (row->operation != operation)
			end_ns = clock_monotonic_ns() + suite_job(results, row).limit_ns;
		operation = row->operation;
		suite_show_progress(results, row);
		err = suite_measure_row(results, row, end_ns);
	}
	suite_show_progress(results, NULL);
	return err;
}
