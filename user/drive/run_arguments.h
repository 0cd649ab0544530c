/* SPDX-License-Identifier: GPL-2.0-only */
/* The `pfdrive run' arguments, shared by the other commands making accesses. */
#ifndef PFSTAT_USER_RUN_ARGUMENTS_H
#define PFSTAT_USER_RUN_ARGUMENTS_H

#include <argp.h>

#include "drive/run_options.h"

void run_arguments_init(struct options *options);
/*
 * A parser to be the only child of a command's argp. Its input is a struct options. The parser
 * exits with STATUS_USAGE if it does not understand an argument, or if two do not go together.
 */
extern const struct argp run_arguments_argp;

#endif
