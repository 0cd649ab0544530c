/* SPDX-License-Identifier: GPL-2.0-only */
/* What getrusage(2) counted, of a run and of its steps. */
#ifndef PFSTAT_USER_JSON_USAGE_H
#define PFSTAT_USER_JSON_USAGE_H

#include <jansson.h>

#include "report/report.h"

json_t *json_usage(const struct usage *usage);
/* A member for each step that there can be; null: it was not made. */
json_t *json_steps(const struct report *run);

#endif
