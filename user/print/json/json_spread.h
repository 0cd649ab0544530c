/* SPDX-License-Identifier: GPL-2.0-only */
/* Mean and standard deviation of JSON values with the same shape. */
#ifndef PFSTAT_USER_JSON_SPREAD_H
#define PFSTAT_USER_JSON_SPREAD_H

#include <jansson.h>
#include <stddef.h>

struct json_spread {
	json_t *mean, *stddev; /* both NULL: no memory */
};

/*
 * The values are numbers, or objects of such values with the same members, and so are the results.
 * If any value is not a number (null: n/a), the result is null.
 */
struct json_spread json_spread_of(json_t **values, size_t nr);

#endif
