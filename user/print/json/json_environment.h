/* SPDX-License-Identifier: GPL-2.0-only */
/* A run's environment as JSON, in reports and in a recording's head. */
#ifndef PFSTAT_USER_JSON_ENVIRONMENT_H
#define PFSTAT_USER_JSON_ENVIRONMENT_H

#include <jansson.h>

#include "report/report.h"

/* NULL: no memory. */
json_t *json_environment(const struct environment *environment);
/*
 * Missing values, and values that are too long or have another type, become n/a. -EINVAL: json is
 * not an environment.
 */
int json_environment_parse(struct environment *environment, const json_t *json);

#endif
