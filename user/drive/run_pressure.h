/* SPDX-License-Identifier: GPL-2.0-only */
/* A run, with or without competing processes, by its options. */
#ifndef PFSTAT_USER_RUN_PRESSURE_H
#define PFSTAT_USER_RUN_PRESSURE_H

#include "drive/run.h"

/*
 * Calls run_once(). With competitors there are two runs under the same limit, without and with
 * them; the result is that of the second, and its competition has the figures of both.
 */
int run_pressure(struct run_plan *plan, struct result *result);

#endif
