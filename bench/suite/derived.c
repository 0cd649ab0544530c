// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows that are not measured: cache sizes, line size and memory latency, from the points in
 * memory.latency and memory.pair. Runs after the suite. A row without enough points gets a reason
 * instead of a value.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/core/infer.h"
#include "bench/suite/derived.h"
#include "bench/suite/ops/op_registry.h"
#include "util/text.h"

#define STRIDE	   "64"
#define MOST_NOISY 0.25

struct derived {
	struct bench_results *results;
	struct infer_point *sweep, *pairs;
	size_t nr_sweep, nr_pairs;
	const struct bench_row *largest; /* last measured point in the sweep, or NULL if none */
	uint64_t caches[INFER_LEVELS];
	size_t nr_caches;
	uint64_t line;
	size_t noisy_sweep, noisy_pairs; /* numbers of noisy points */
};

/* Parses "32K:64" to 32768. False: another stride, or a point that was not measured. */
static bool derived_point(const struct bench_row *row, struct infer_point *point)
{
	char size[sizeof(row->point_name)];
	const char *stride = strchr(row->point_name, ':');
	const size_t length = strcspn(row->point_name, ":");

	if (!bench_row_measured(row) || (stride && strcmp(stride + 1, STRIDE)))
		return false;
	memcpy(size, row->point_name, length);
	size[length] = '\0';
	point->ns = row->figures.min; /* other load can only add time */
	return !size_parse(size, &point->bytes);
}

static void derived_gather(struct derived *derived)
{
	const struct bench_results *results = derived->results;
	const struct bench_row *row;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		if (row->operation == &op_pair &&
		    derived_point(row, &derived->pairs[derived->nr_pairs])) {
			derived->nr_pairs++;
			derived->noisy_pairs += row->noise.text[0] != '\0';
		}
		if (row->operation != &op_latency ||
		    !derived_point(row, &derived->sweep[derived->nr_sweep]))
			continue;
		derived->nr_sweep++;
		derived->noisy_sweep += row->noise.text[0] != '\0';
		derived->largest = row;
	}
}

static void derived_fill_value(struct bench_row *row, double value)
{
	row->figures = (struct statistics){
		.mean = value,
		.median = value,
		.min = value,
		.max = value,
		.stddev = NAN,
		.half_width = NAN,
	};
	row->half_width = NAN;
	row->missing.text[0] = '\0';
}

/* A few noisy points are harmless, since the others outweigh them. */
static void derived_mark_noise(struct bench_row *row, size_t noisy, size_t all)
{
	row->noise.text[0] = '\0';
	if (noisy > MOST_NOISY * all)
		why_set(&row->noise, "%zu of the %zu points used for it are noisy", noisy, all);
}

static void derived_fill_cache(struct derived *derived, struct bench_row *row, size_t level)
{
	if (!derived->nr_sweep) {
		why_set(&row->missing, "memory.latency was not measured");
		return;
	}
	if (level >= derived->nr_caches) {
		why_set(&row->missing, "the sweep up to %s shows no step at the end",
			derived->largest->point_name);
		return;
	}
	derived_fill_value(row, derived->caches[level]);
	derived_mark_noise(row, derived->noisy_sweep, derived->nr_sweep);
}

static void derived_fill_line(struct derived *derived, struct bench_row *row)
{
	if (!derived->nr_pairs) {
		why_set(&row->missing, "memory.pair was not measured");
		return;
	}
	if (!derived->line) {
		why_set(&row->missing, "no distance costs more than the others");
		return;
	}
	derived_fill_value(row, derived->line);
	derived_mark_noise(row, derived->noisy_pairs, derived->nr_pairs);
}

static uint64_t derived_largest_cache(const struct bench_machine *machine)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < INFER_LEVELS; i++)
		if (machine->cache_bytes[i] > bytes)
			bytes = machine->cache_bytes[i];
	return bytes;
}

/* Needs a sweep beyond the caches known to hwloc. */
static void derived_fill_dram(struct derived *derived, struct bench_row *row)
{
	const uint64_t cache = derived_largest_cache(&derived->results->machine);
	const struct bench_row *largest = derived->largest;

	if (!largest) {
		why_set(&row->missing, "memory.latency was not measured");
		return;
	}
	if (!cache) {
		why_set(&row->missing,
			"the cache sizes are unknown, so the sweep may end within them");
		return;
	}
	if (derived->sweep[derived->nr_sweep - 1].bytes < 2 * cache) {
		why_set(&row->missing, "the sweep up to %s does not go beyond the caches",
			largest->point_name);
		return;
	}
	row->missing.text[0] = '\0';
	row->figures = largest->figures;
	row->half_width = largest->half_width;
	row->cycles = largest->cycles;
	row->noise = largest->noise;
}

static void derived_fill_row(struct derived *derived, struct bench_row *row)
{
	const struct bench_operation *operation = row->operation;

	row->cycles = NAN;
	row->subtracted_ns = NAN;
	if (operation == &op_line)
		derived_fill_line(derived, row);
	else if (operation == &op_dram)
		derived_fill_dram(derived, row);
	else
		derived_fill_cache(derived, row,
				   operation == &op_l1 ? 0 :
				   operation == &op_l2 ? 1 :
							 2);
}

int derived_fill(struct bench_results *results)
{
	struct derived derived = {
		.results = results,
		.sweep = calloc(results->nr + 1, sizeof(struct infer_point)),
		.pairs = calloc(results->nr + 1, sizeof(struct infer_point)),
	};
	const int err = derived.sweep && derived.pairs ? 0 : -ENOMEM;
	size_t i;

	if (!err) {
		derived_gather(&derived);
		if (derived.nr_sweep)
			derived.nr_caches =
				infer_caches(derived.sweep, derived.nr_sweep, derived.caches);
		if (derived.nr_pairs)
			derived.line = infer_line(derived.pairs, derived.nr_pairs);
		for (i = 0; i < results->nr; i++)
			if (results->rows[i].operation->derived_from)
				derived_fill_row(&derived, &results->rows[i]);
	}
	free(derived.sweep);
	free(derived.pairs);
	return err;
}
