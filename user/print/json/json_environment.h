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

/* A recording's head: everything known about a run before it starts. */

/*
 * Returns the environment, have_bpf, bpf_missing, hooks and pages_touched. If have_bpf is true
 * and hooks is 0, the hooks are not known yet. NULL: no memory.
 */
json_t *json_head(const struct report *report);
/* Fills a report that report_init() has initialised. -EINVAL: json is not a head. */
int json_head_parse(struct report *report, const json_t *json);

#endif
