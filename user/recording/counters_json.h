/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts of a run as the tail of a recording. */
#ifndef PFSTAT_USER_COUNTERS_JSON_H
#define PFSTAT_USER_COUNTERS_JSON_H

#include <jansson.h>

#include "model/counters.h"

/* NULL: no memory. */
json_t *facts_to_json(const struct facts *facts);
/*
 * facts need not be initialised. What is missing is FACT_NONE. -EINVAL: it is no tail;
 * -ENOMEM; then nothing is known, and nothing to be freed.
 */
int facts_from_json(struct facts *facts, const json_t *json);

#endif
