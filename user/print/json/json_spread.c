// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes mean and standard deviation over several runs, for each member of their JSON objects.
 * Pure: the caller owns the input.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "print/json/json_spread.h"
#include "util/json_value.h"
#include "report/view.h"

/* Reads the same number from every run, or null as soon as one run lacks the number. */
static struct json_spread spread_of_numbers(json_t **values, size_t nr)
{
	double *numbers = calloc(nr, sizeof(*numbers));
	struct json_spread pair = { 0 };
	struct spread spread;
	size_t i;

	if (!numbers)
		return pair;
	for (i = 0; i < nr; i++)
		numbers[i] = json_is_number(values[i]) ? json_number_value(values[i]) : NAN;
	spread = view_spread(numbers, nr);
	pair.mean = value_real(spread.mean);
	pair.stddev = value_real(spread.stddev);
	free(numbers);
	return pair;
}

static int spread_member(struct json_spread *pair, json_t **values, size_t nr, const char *key)
{
	json_t **members = calloc(nr, sizeof(json_t *));
	struct json_spread member;
	size_t i;
	int err;

	if (!members)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		members[i] = json_object_get(values[i], key);
	member = json_spread_of(members, nr);
	/* Sets both, so both references are consumed. */
	err = json_object_set_new(pair->mean, key, member.mean);
	err |= json_object_set_new(pair->stddev, key, member.stddev);
	free(members);
	return err ? -ENOMEM : 0;
}

struct json_spread json_spread_of(json_t **values, size_t nr)
{
	struct json_spread pair;
	const char *key;
	json_t *member;

	if (!json_is_object(values[0]))
		return spread_of_numbers(values, nr);

	pair.mean = json_object();
	pair.stddev = json_object();
	json_object_foreach(values[0], key, member) {
		if (!spread_member(&pair, values, nr, key))
			continue;
		json_decref(pair.mean);
		json_decref(pair.stddev);
		return (struct json_spread){ 0 };
	}
	return pair;
}
