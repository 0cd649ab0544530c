/* SPDX-License-Identifier: GPL-2.0-only */
/* A run's counters as the tail of a recording. */
#ifndef PFSTAT_USER_COUNTERS_JSON_H
#define PFSTAT_USER_COUNTERS_JSON_H

#include <jansson.h>

#include "model/counters.h"

/* The effect of a cgroup's limits, in the tail of a recording and in a report. */

/* The JSON null if nothing is known. NULL: no memory. */
json_t *cgroup_json(const struct cgroup_limits *limits);
/* NULL and null: nothing is known. Returns 0, or -EINVAL if the JSON is malformed. */
int cgroup_json_parse(struct cgroup_limits *limits, const json_t *json);

/* The reach of record --exact, in both. The JSON null: there was no library. NULL: no memory. */
json_t *exact_json(const struct exact_reach *reach);

/* The file systems of the run's files, a member of the tail. NULL: no memory. */
json_t *filesystems_json(const struct run_counters *counters);
/* NULL: an older recording, none is known. Returns 0, -EINVAL or -ENOMEM. */
int filesystems_json_parse(struct run_counters *counters, const json_t *json);

/* NULL: no memory. */
json_t *counters_json(const struct run_counters *counters);
/*
 * counters need not be initialised. Missing values are COUNT_NA. Returns -EINVAL if json is not a
 * tail, or -ENOMEM. In both cases all counters are unknown, and there is nothing to free.
 */
int counters_json_parse(struct run_counters *counters, const json_t *json);

#endif
