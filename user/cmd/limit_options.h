/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that set limits: --max-major, --max-fault-time and --max-share. */
#ifndef PFSTAT_USER_LIMIT_OPTIONS_H
#define PFSTAT_USER_LIMIT_OPTIONS_H

#include <argp.h>

/* Its input is a struct limits after limits_init(). */
extern const struct argp limit_argp;

#endif
