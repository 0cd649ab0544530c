/* SPDX-License-Identifier: GPL-2.0-only */
/* A run, alone or among competitors, as the options say. */
#ifndef PFSTAT_USER_RUN_CONTEST_H
#define PFSTAT_USER_RUN_CONTEST_H

#include "run/run.h"

/*
 * run_once(). Where somebody competes there are two runs under the same limit, alone and
 * with them; the result is the second one's, and its competition has the figures of both.
 */
int run_contest(struct run_plan *plan, struct result *result);

#endif
