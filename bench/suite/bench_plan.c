// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the names in the command line into rows: one for each point of each named or needed
 * operation. Reads the registry and the machine. The rows follow the registry's order. Pure.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/bench_plan.h"
#include "bench/suite/ops/op_registry.h"

static bool bench_plan_matches(const char *pattern, const struct bench_operation *operation)
{
	const char *dot = strchr(operation->name, '.');
	const size_t family = dot - operation->name;

	return !fnmatch(pattern, operation->name, 0) ||
	       (strlen(pattern) == family && !strncmp(pattern, operation->name, family));
}

static int bench_plan_mark_named(bool *wanted, char *const *names, size_t nr_names,
				 const char **unknown)
{
	size_t i, j;
	bool any;

	for (i = 0; i < nr_names; i++) {
		any = false;
		for (j = 0; j < bench_nr_operations; j++) {
			if (!bench_plan_matches(names[i], bench_operations[j]))
				continue;
			wanted[j] = true;
			any = true;
		}
		*unknown = names[i];
		if (!any)
			return -ENOENT;
	}
	return 0;
}

static void bench_plan_mark(bool *wanted, const char *name)
{
	size_t i;

	for (i = 0; name && i < bench_nr_operations; i++)
		if (!strcmp(bench_operations[i]->name, name))
			wanted[i] = true;
}

/* The operations used to correct or derive the wanted ones. */
static void bench_plan_mark_needed(bool *wanted)
{
	size_t i;

	for (i = 0; i < bench_nr_operations; i++) {
		if (!wanted[i])
			continue;
		bench_plan_mark(wanted, bench_operations[i]->subtract);
		bench_plan_mark(wanted, bench_operations[i]->derived_from);
	}
}

static int bench_plan_add_row(struct bench_results *results,
			      const struct bench_operation *operation, size_t point, bool named)
{
	struct bench_row *grown = reallocarray(results->rows, results->nr + 1, sizeof(*grown));
	struct bench_row *row;

	if (!grown)
		return -ENOMEM;
	results->rows = grown;
	row = &grown[results->nr++];
	*row = (struct bench_row){ .operation = operation, .point = point };
	if (named)
		operation->name_point(&results->machine, &results->options, point, row->point_name,
				      sizeof(row->point_name));
	snprintf(row->name, sizeof(row->name), "%s%s%s", operation->name, named ? ":" : "",
		 row->point_name);
	return 0;
}

static int bench_plan_add_rows(struct bench_results *results,
			       const struct bench_operation *operation)
{
	size_t nr = 0, point;
	int err = 0;

	if (operation->nr_points)
		nr = operation->nr_points(&results->machine, &results->options);
	if (!nr)
		return bench_plan_add_row(results, operation, 0, false);
	for (point = 0; point < nr && !err; point++)
		err = bench_plan_add_row(results, operation, point, true);
	return err;
}

int bench_plan_rows(struct bench_results *results, char *const *names, size_t nr_names,
		    const char **unknown)
{
	bool *wanted = calloc(bench_nr_operations, sizeof(*wanted));
	size_t i;
	int err;

	if (!wanted)
		return -ENOMEM;
	err = bench_plan_mark_named(wanted, names, nr_names, unknown);
	for (i = 0; i < bench_nr_operations && !nr_names; i++)
		wanted[i] = true;
	bench_plan_mark_needed(wanted);
	for (i = 0; i < bench_nr_operations && !err; i++)
		if (wanted[i])
			err = bench_plan_add_rows(results, bench_operations[i]);
	free(wanted);
	return err;
}

bool bench_plan_knows(const char *name)
{
	const size_t length = strcspn(name, ":");
	size_t i;

	for (i = 0; i < bench_nr_operations; i++)
		if (!strncmp(bench_operations[i]->name, name, length) &&
		    !bench_operations[i]->name[length])
			return !name[length] || bench_operations[i]->nr_points;
	return false;
}
