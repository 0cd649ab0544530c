// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up the system calls that eBPF counted by number and errno, for the report's table by call.
 * Each number occurs once in the result, and the total number of calls stays the same.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/accounts/syscall_totals.h"

static int by_number(const void *a, const void *b)
{
	const struct syscall_total *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

static int longest_first(const void *a, const void *b)
{
	const struct syscall_total *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return by_number(a, b);
}

/* Merges rows with the same number, which are adjacent. Returns the number of rows left. */
static size_t merge(struct syscall_total *totals, size_t nr)
{
	size_t kept = 0, i;

	for (i = 1; i < nr; i++) {
		if (totals[i].number == totals[kept].number) {
			totals[kept].calls += totals[i].calls;
			totals[kept].errors += totals[i].errors;
			totals[kept].total_ns += totals[i].total_ns;
		} else {
			totals[++kept] = totals[i];
		}
	}
	return kept + 1;
}

int syscall_totals(const struct syscall_row *rows, size_t nr_rows, struct syscall_total **totals,
		   size_t *nr)
{
	size_t i;

	*totals = NULL;
	*nr = 0;
	if (!nr_rows)
		return 0;
	*totals = calloc(nr_rows, sizeof(**totals));
	if (!*totals)
		return -ENOMEM;
	for (i = 0; i < nr_rows; i++)
		(*totals)[i] = (struct syscall_total){
			.number = rows[i].number,
			.calls = rows[i].value.count,
			.errors = rows[i].error ? rows[i].value.count : 0,
			.total_ns = rows[i].value.total_ns,
		};
	qsort(*totals, nr_rows, sizeof(**totals), by_number);
	*nr = merge(*totals, nr_rows);
	qsort(*totals, *nr, sizeof(**totals), longest_first);
	return 0;
}

struct syscall_total syscall_totals_sum(const struct syscall_total *totals, size_t nr)
{
	struct syscall_total sum = { 0 };
	size_t i;

	for (i = 0; i < nr; i++) {
		sum.calls += totals[i].calls;
		sum.errors += totals[i].errors;
		sum.total_ns += totals[i].total_ns;
	}
	return sum;
}
