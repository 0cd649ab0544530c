/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_PREFETCH_H
#define PFSTAT_USER_PREFETCH_H

#include "util/subcommand.h"

extern const struct subcommand prefetch_command;

#endif
