/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive what-if. */
#ifndef PFSTAT_APPS_CMD_WHAT_IF_H
#define PFSTAT_APPS_CMD_WHAT_IF_H

#include "util/subcommand.h"

extern const struct subcommand what_if_command;

#endif
