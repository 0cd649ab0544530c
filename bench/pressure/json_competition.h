/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison with competitors as JSON. NULL without memory. */
#ifndef PFSTAT_USER_JSON_COMPETITION_H
#define PFSTAT_USER_JSON_COMPETITION_H

#include <jansson.h>

#include "report/report.h"

json_t *json_competition(const struct report_study *study);
/* The figures varying between runs. */
json_t *json_competition_figures(const struct report_study *study);

#endif
