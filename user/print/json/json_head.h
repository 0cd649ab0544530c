/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording's head: everything known about a run before it starts. */
#ifndef PFSTAT_USER_JSON_HEAD_H
#define PFSTAT_USER_JSON_HEAD_H

#include <jansson.h>

#include "report/report.h"

/*
 * Returns the environment, have_bpf, bpf_missing, hooks and pages_touched. If have_bpf is true
 * and hooks is 0, the hooks are not known yet. NULL: no memory.
 */
json_t *json_head(const struct report *report);
/* Fills a report that report_init() has initialised. -EINVAL: json is not a head. */
int json_head_parse(struct report *report, const json_t *json);

#endif
