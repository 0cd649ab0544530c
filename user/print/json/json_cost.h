/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_JSON_COST_H
#define PFSTAT_USER_JSON_COST_H

#include <jansson.h>

#include "report/report.h"

json_t *json_cost(const struct report *run);

#endif
