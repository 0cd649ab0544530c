/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_COMPLETION_H
#define PFSTAT_USER_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "util/subcommand.h"

/* Prints the script that completes pfdrive's command line. false: not bash or zsh. */
bool completion_print(FILE *out, const char *shell, const struct subcommand *const *rows,
		      size_t nr);

#endif
