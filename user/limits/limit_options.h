/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that set limits: --max-major, --max-fault-time and --max-share, for check also
 * --max-fault and --max-failed.
 */
#ifndef PFSTAT_USER_LIMIT_OPTIONS_H
#define PFSTAT_USER_LIMIT_OPTIONS_H

#include <argp.h>

/* The input is a struct limits after limits_init(). */
extern const struct argp limit_argp;
extern const struct argp check_limit_argp;

#endif
