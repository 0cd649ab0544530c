/* SPDX-License-Identifier: GPL-2.0-only */
/* A run among competitors as JSON. NULL: no memory. null: there was none. */
#ifndef PFSTAT_USER_JSON_COMPETITION_H
#define PFSTAT_USER_JSON_COMPETITION_H

#include <jansson.h>

#include "report/report.h"

json_t *json_competition(const struct competition *competition);
/* What varies between runs. */
json_t *json_competition_figures(const struct competition *competition);

#endif
