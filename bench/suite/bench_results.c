// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values for the printers, computed from the pfdrive bench rows. suite.c fills the rows, and
 * derived.c, witness.c and predict.c complete them. Pure. Printing changes no row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/bench_results.h"
#include "bench/suite/ops/op_registry.h"
#include "model/counters.h"
#include "util/time_ns.h"

const char *bench_row_mark(const struct bench_row *row)
{
	return row->contradiction.text[0] ? "contradicted" : row->noise.text[0] ? "noisy" : "";
}

double bench_results_per_operation(const struct bench_counts *counts, enum bench_event event,
				   uint64_t operations)
{
	if (counts->event[event] == COUNT_NA || !operations)
		return NAN;
	return (double)counts->event[event] / operations;
}

struct bench_scaling bench_row_scaling(const struct bench_row *row)
{
	const double wall_ns = row->figures.mean;

	return (struct bench_scaling){
		.faults_per_s = SECOND / wall_ns,
		.thread_ns = wall_ns * strtoul(row->point_name, NULL, 10),
	};
}

struct bench_noise bench_results_noise(const struct bench_results *results)
{
	struct bench_noise noise = { 0 };
	const struct bench_row *row;
	bool noisy;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		noisy = row->noise.text[0];
		if (row->operation == &op_latency) {
			noise.points += noisy;
			noise.all_points++;
		} else {
			noise.rows += noisy;
			noise.all_rows++;
		}
	}
	return noise;
}

struct bench_row *bench_results_find(const struct bench_results *results, const char *name)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (!strcmp(results->rows[i].name, name))
			return &results->rows[i];
	return NULL;
}

void bench_results_free(struct bench_results *results)
{
	free(results->rows);
	results->rows = NULL;
	results->nr = 0;
}
