/* SPDX-License-Identifier: GPL-2.0-only */
/* A run while other processes compete for memory. */
#ifndef PFSTAT_USER_RUN_PRESSURE_H
#define PFSTAT_USER_RUN_PRESSURE_H

#include "drive/run.h"

/*
 * Calls run_once() twice under the same limit, without and with competitors; the result is that of
 * the second, and its study has the figures of both. @options: a struct compete_options. For struct
 * drive_plan.
 */
int run_pressure(struct run_plan *plan, struct result *result, const void *options);

#endif
