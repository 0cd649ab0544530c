/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive bench results on an invented machine. */
#ifndef PFSTAT_TESTS_BENCH_SAMPLE_H
#define PFSTAT_TESTS_BENCH_SAMPLE_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/suite/bench_plan.h"
#include "bench/suite/bench_results.h"
#include "bench/suite/suite.h"
#include "user/model/counters.h"

/* The selected rows, none of which has been measured yet. */
static inline void bench_sample_open(struct bench_results *results, char *const *names, size_t nr)
{
	const char *unknown;
	size_t i;

	*results = (struct bench_results){ .options = { .quick = true } };
	results->machine = (struct bench_machine){
		.nr_cpus = 2,
		.cpu = 1,
		.cycle_ns = 0.5,
		.memory_bytes = 4ULL << 30,
		.limit_bytes = 1ULL << 30,
		.available_bytes = 3ULL << 30,
		.cache_bytes = { 32768, 1 << 20, 8 << 20 },
		.line_bytes = 64,
	};
	ck_assert_int_eq(bench_plan_rows(results, names, nr, &unknown), 0);
	for (i = 0; i < results->nr; i++)
		why_set(&results->rows[i].missing, "it was not its turn");
}

/* Ten runs with 1000 operations of that duration. The last run takes 10 % longer. */
static inline struct bench_row *bench_sample_measure(struct bench_results *results,
						     const char *name, double ns)
{
	struct bench_row *row = bench_results_find(results, name);
	struct measured measured = {
		.operations = 1000,
		.bytes = 1000000,
		.runs = 10,
		.all_operations = 10000,
		.usage = { .event = { 3, COUNT_NA, 0, 0 } },
	};
	size_t i;

	ck_assert_msg(row, "%s", name);
	for (i = 0; i < measured.runs; i++) {
		measured.ns[i] = ns;
		measured.cycles[i] = 2 * ns;
	}
	measured.ns[9] = 1.1 * ns;
	row->missing.text[0] = '\0';
	ck_assert_int_eq(suite_fill(results, row, &measured), 0);
	return row;
}

#endif
