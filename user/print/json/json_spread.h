/* SPDX-License-Identifier: GPL-2.0-only */
/* Mean and standard deviation of JSON values of one shape. */
#ifndef PFSTAT_USER_JSON_SPREAD_H
#define PFSTAT_USER_JSON_SPREAD_H

#include <jansson.h>
#include <stddef.h>

struct json_spread {
	json_t *mean, *stddev; /* both NULL: no memory */
};

/*
 * The values are numbers, or objects of such values with the same members; so
 * are the results. What is no number in one of the values (null: n/a) is null.
 */
struct json_spread json_spread_of(json_t **values, size_t nr);

/* NAN, which JSON has not, becomes null. */
json_t *json_real_or_null(double value);

#endif
