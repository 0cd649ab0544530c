// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "bench/bench_results.h"

struct bench_row *bench_results_find(const struct bench_results *results, const char *name)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (!strcmp(results->rows[i].name, name))
			return &results->rows[i];
	return NULL;
}

const char *bench_unit_name(enum bench_unit unit)
{
	static const char *const names[] = {
		[BENCH_NS] = "ns", [BENCH_MBS] = "MB/s", [BENCH_BYTES] = "bytes",
	};

	return names[unit];
}

void bench_results_free(struct bench_results *results)
{
	free(results->rows);
	results->rows = NULL;
	results->nr = 0;
}
