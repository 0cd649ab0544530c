/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_DOCTOR_H
#define PFSTAT_USER_DOCTOR_H

#include "util/subcommand.h"

extern const struct subcommand doctor_command;

#endif
