/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a recording: all that is known of a run before it begins. */
#ifndef PFSTAT_USER_JSON_HEAD_H
#define PFSTAT_USER_JSON_HEAD_H

#include <jansson.h>

#include "report/report.h"

/*
 * The environment, have_bpf, bpf_missing, hooks and pages_touched; hooks 0 with
 * have_bpf: not known yet. NULL: no memory.
 */
json_t *head_to_json(const struct report *report);
/* Into a report of report_init(). -EINVAL: it is no head. */
int head_from_json(struct report *report, const json_t *json);

#endif
