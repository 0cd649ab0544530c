/* SPDX-License-Identifier: GPL-2.0-only */
/* A run's counters as the tail of a recording. */
#ifndef PFSTAT_USER_COUNTERS_JSON_H
#define PFSTAT_USER_COUNTERS_JSON_H

#include <jansson.h>

#include "model/counters.h"

/* NULL: no memory. */
json_t *counters_json(const struct run_counters *counters);
/*
 * counters need not be initialised. Missing values are COUNT_NA. Returns -EINVAL if json is not a
 * tail, or -ENOMEM. In both cases all counters are unknown, and there is nothing to free.
 */
int counters_json_parse(struct run_counters *counters, const json_t *json);

#endif
