/* SPDX-License-Identifier: GPL-2.0-only */
/* The effect of a cgroup's limits, in the tail of a recording and in a report. */
#ifndef PFSTAT_USER_CGROUP_JSON_H
#define PFSTAT_USER_CGROUP_JSON_H

#include <jansson.h>

#include "model/cgroup_limits.h"

/* The JSON null if nothing is known. NULL: no memory. */
json_t *cgroup_json(const struct cgroup_limits *limits);
/* NULL and null: nothing is known. Returns 0, or -EINVAL if the JSON is malformed. */
int cgroup_json_parse(struct cgroup_limits *limits, const json_t *json);

#endif
